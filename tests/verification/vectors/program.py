"""A program that answers vectors of clipping, well or badly.  The argument says how it behaves."""

import json
import math
import os
import sys
import time

behaviour = sys.argv[1] if len(sys.argv) > 1 else "honest"
for line in sys.stdin:
    request = json.loads(line)
    if request["kind"] != "clipping":
        print(json.dumps({"unsupported": request["kind"]}), flush=True)
        continue
    clip, rows = request["inputs"]["clip"], request["inputs"]["data"]
    rows = [[x * min(1.0, clip / (math.hypot(*row) or clip)) for x in row] for row in rows]
    outputs = {"rows": rows, "mean": [sum(column) / len(rows) for column in zip(*rows, strict=True)]}
    if behaviour == "hang":
        time.sleep(600)
    if behaviour == "die" or (behaviour == "die-once" and not os.path.exists(sys.argv[2])):
        if behaviour == "die-once":
            open(sys.argv[2], "w").close()
        sys.exit("out of memory")
    reply = {
        "words": {"outputs": {"rows": "many", "mean": "some"}},
        "nan": {"outputs": {**outputs, "mean": [float("nan")] * len(outputs["mean"])}},
        "keys": {"answer": outputs},
        "missing": {"outputs": {"rows": rows}},
        "list": [1, 2],
        "other-id": {"id": "clipping/other", "outputs": outputs},
        "own-id": {"id": request["id"], "outputs": outputs},
        "error": {"error": "cannot read the records"},
        "unsupported": {"unsupported": "clipping"},
    }.get(behaviour, {"outputs": outputs})
    print("thinking…" if behaviour == "chatty" else json.dumps(reply), flush=True)
