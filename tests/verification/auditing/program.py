"""A program as the subject of an audit: JSON lines in, JSON lines out.  The argument says how it behaves."""

import json
import random
import sys
import time

behaviour = sys.argv[1] if len(sys.argv) > 1 else "laplace"
for line in sys.stdin:
    request = json.loads(line)
    generator = random.Random(request["seed"])
    total = sum(record[0] for record in request["data"])
    if total > 0.5 and behaviour == "hang":
        time.sleep(600)
    if total > 0.5 and behaviour == "die":
        sys.exit("out of memory")
    noise = [generator.expovariate(1.0) - generator.expovariate(1.0) for _ in range(request["size"])]
    reply = {
        "few": {"outputs": noise[1:]},
        "error": {"error": "cannot read the records"},
        "keys": {"values": noise},
        "nan": {"outputs": [float("nan")] * len(noise)},
        "words": {"outputs": ["a"] * len(noise)},
        "ragged": {"outputs": [[1.0], [1.0, 2.0]] * (len(noise) // 2)},
    }.get(behaviour, {"outputs": [total + x for x in noise]})
    print("thinking…" if behaviour == "chatty" else json.dumps(reply), flush=True)
