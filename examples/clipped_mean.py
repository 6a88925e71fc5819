"""The clipped noisy mean (P2, Algorithm 2) as a program that answers audits and some vectors, in plain Python.

    tailproof audit --command 'python examples/clipped_mean.py' --claim 'zcdp(rho=0.5)' --records 10 --columns 2
    tailproof vectors check --command 'python examples/clipped_mean.py'

An argument breaks it on purpose: `unclipped` leaves out the clipping, `halved` halves the noise.
"""

import json
import math
import random
import sys


def clipped(row, radius):
    length = math.hypot(*row)
    return row if length <= radius or BUG == "unclipped" else [x / length * radius for x in row]


def clipped_mean(data, radius):
    rows = [clipped(row, radius) for row in data]
    return [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]


def noise_scale(n, parameters):
    """Δ/√(2ρ) with Δ = 2C/n: replacing a record moves the mean by so much."""
    scale = 2 * parameters["clip"] / n / math.sqrt(2 * parameters["rho"])
    return scale / 2 if BUG == "halved" else scale


def runs(request):
    """So many independent runs on the data, all from the seed."""
    parameters = {"clip": 1.0, "rho": 0.5, **request.get("parameters", {})}
    rng = random.Random(request["seed"])
    mean, scale = clipped_mean(request["data"], parameters["clip"]), noise_scale(len(request["data"]), parameters)
    return {"outputs": [[rng.gauss(x, scale) for x in mean] for _ in range(request["size"])]}


def clipping(q):
    rows = [clipped(row, q["clip"]) for row in q["data"]]
    return {"rows": rows, "mean": clipped_mean(q["data"], q["clip"])}


def calibration(q):
    if q["rule"] == "gaussian zcdp":
        return {"value": q["sensitivity"] / math.sqrt(2 * q["rho"])}
    if q["rule"] == "gaussian classical":
        return {"value": q["sensitivity"] * math.sqrt(2 * math.log(1.25 / q["delta"])) / q["epsilon"]}
    return None


def transcript(q):
    """One release: its law on these data, what it claims, and what is published when it is drawn as given."""
    if q["algorithm"] != "P2.A2":
        return None
    parameters, n = q["parameters"], len(q["data"])
    return {
        "names": ["mean"],
        "laws": ["Gaussian"],
        "rows": [None],
        "locations": [clipped_mean(q["data"], parameters["clip"])],
        "scales": [[noise_scale(n, parameters)]],
        "shapes": [[]],
        "sensitivities": [{"norm": "2", "value": [2 * parameters["clip"] / n], "rate": None}],
        "spends": [{"claim": "zcdp", "rho": parameters["rho"], "neighbouring": "replace-one"}],
        "output": q["outputs"][0]["value"],
    }


KINDS = {"clipping": clipping, "calibration": calibration, "transcript": transcript}
BUG = sys.argv[1] if len(sys.argv) > 1 else None


def reply(request):
    if "kind" not in request:
        return runs(request)
    outputs = KINDS[request["kind"]](request["inputs"]) if request["kind"] in KINDS else None
    return {"unsupported": request["kind"]} if outputs is None else {"outputs": outputs}


for line in sys.stdin:
    print(json.dumps(reply(json.loads(line))), flush=True)
