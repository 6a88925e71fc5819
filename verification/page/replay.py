"""How to run again what the report shows: names of witness files, and a command for every kind of entry."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from typing import Any

Json = dict[str, Any]


def witness_names(report: Json) -> tuple[list[str | None], list[str | None]]:
    """File names in `witnesses/`, for the findings and for the mutants, in their order; None where there is no witness.

    The second of the same algorithm and check ends in -2, and so on.
    """
    seen: Counter[str] = Counter()

    def name(algorithm: str, what: str, witness: Any) -> str | None:
        if not witness:
            return None
        stem = re.sub(r"[^A-Za-z0-9.]+", "-", f"{algorithm} {what}")
        seen[stem] += 1
        return f"{stem}.json" if seen[stem] == 1 else f"{stem}-{seen[stem]}.json"

    findings = [name(f["algorithm"], f["check"], f["witness"]) for f in report["findings"]]
    return findings, [name(m["algorithm"], m["name"], m["witness"]) for m in report["mutants"]]


def witness_files(report: Json) -> dict[str, Any]:
    """File name -> witness, of every violated finding and every killed mutant that has one: ready for `tailproof replay`."""
    names = [name for group in witness_names(report) for name in group]
    witnesses = [entry["witness"] for part in ("findings", "mutants") for entry in report[part]]
    return {name: witness for name, witness in zip(names, witnesses, strict=True) if name is not None}


def witness(name: str) -> str:
    return f"tailproof replay witnesses/{name}"


def algorithm(identifier: str, report: Json) -> str:
    """Into another folder, for the report would be written over."""
    return f"tailproof verify --only {identifier}{_options(report)} --report again"


def everything(report: Json) -> str:
    only = f" --only {' '.join(report['only'])}" if report.get("only") else ""
    return f"tailproof verify{only}{_options(report)} --report again"


def _options(report: Json) -> str:
    full = " --full" if report.get("preset") == "full" else ""
    return full + (f" --seed {report['seed']}" if report.get("seed") else "")


def comparison(entry: Json) -> str:
    """Of an equality the other direction is asked for in the same way, sides exchanged."""
    where = f" --where {shlex.join(entry['where'])}" if entry["where"] else ""
    return f"tailproof compare {shlex.join([entry['left'], entry['right']])}{where}"


def statement(entry: Json) -> str:
    """All readings of a statement with explicit constants."""
    chosen = f"(run(t) for t in TRIALS if t.id == {json.dumps(entry['id'])})"
    program = f"from tailproof.verification.statements import TRIALS, run; print(*{chosen})"
    return f"python -c {shlex.quote(program)}"


def erratum(entry: Json) -> str:
    chosen = f"e.recheck() for e in errata() if e.id == {json.dumps(entry['id'])}"
    program = f"from tailproof.bounds.errata import errata; print([{chosen}])"
    return f"python -c {shlex.quote(program)}"


def sweep(result: Json, seed: int) -> str:
    grid = ",".join(f"{point['at']:.12g}" for point in result["points"])
    given = f" --seed {seed}" if seed else ""
    problem = f"--problem {shlex.quote(result['problem'])} --preset {result['preset']}"
    return f"tailproof sweep {result['statement']} {problem} --over {result['over']}={grid} --runs {result['runs']}{given}"


def sandwich(row: Json) -> str:
    given = f" --seed {row['seed']}" if row["seed"] else ""
    return f"tailproof sandwich --only {shlex.quote(row['algorithm'])} --runs {row['runs']}{given}"
