"""The known-bug zoo: 65 mechanisms of known privacy, correct and broken, and what a black-box audit finds of them.

    python benchmarks/zoo.py                     what is kept in benchmarks/zoo.json is not run again
    python benchmarks/zoo.py --only svt          mechanisms whose name contains the text
    python benchmarks/zoo.py --table             print what is kept, run nothing
    python benchmarks/zoo.py --stopping          the same with audits that stop at a refutation, in benchmarks/zoo_stopping.json

Every mechanism is audited on its own pair with 2·10⁴, 2·10⁵ and 2·10⁶ runs, until it is flagged; exhaustively, unless --stopping
is given.  Confidence is 0.99999 each, so that one of all the correct ones is flagged with probability at most 25·3·10⁻⁵.  True: the
exact parameter on the pair, computed from the
law (`verification/auditing/zoo_truth.py`).  A broken one that is not flagged says why: what the power planner asks for, or what
outputs do not show.  Exit 1 when a correct mechanism is flagged, or a broken one is missed without a reason.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tailproof.verification.auditing import audit, limits
from tailproof.verification.auditing.planner import plan
from tailproof.verification.auditing.zoo import Specimen
from tailproof.verification.auditing.zoo_truth import everything, exact_parameter
from tailproof.verification.report import table

BUDGETS = (20_000, 200_000, 2_000_000)
CONFIDENCE = 0.99999
Row = dict[str, Any]


def audited(one: Specimen, budgets: tuple[int, ...] = BUDGETS, *, exhaustive: bool = True) -> Row:
    """The first budget at which it is flagged, or the last one; by the audit that makes all its runs, or the default one."""
    start = time.perf_counter()
    for number, budget in enumerate(budgets):
        found = audit(
            one.subject,
            one.claim,
            [one.pair],
            budget=budget,
            confidence=CONFIDENCE,
            seed=100 + number,
            exhaustive=exhaustive,
        )
        if found.verdict == "violated":
            break
    true = exact_parameter(one)
    return {
        "name": one.name,
        "about": one.about,
        "claim": str(one.claim),
        "claimed": limits.parameter(one.claim),
        "holds": one.holds,
        "true": true if math.isfinite(true) else "infinite",
        "lower": found.lower,
        "confidence": CONFIDENCE,
        "budget": budget,
        "samples": found.samples,
        "verdict": found.verdict,
        "reason": reason(one) if found.verdict != "violated" and not one.holds else "",
        "seconds": round(time.perf_counter() - start, 2),
    }


def reason(one: Specimen) -> str:
    """Why a broken mechanism is not flagged; empty if nothing explains it."""
    if one.planned is None:
        return one.why
    truth, pair = one.planned
    needed = plan(one.claim, truth, confidence=CONFIDENCE, pair=pair)
    if needed.samples <= BUDGETS[-1]:  # that is no reason
        return one.why
    return f"takes {needed.samples:.2g} runs, says the planner ({truth}, {pair} pair)"


def wrong(row: Row) -> str:
    """What a row of the table should not show."""
    if row["holds"] and row["verdict"] == "violated":
        return f"{row['name']} is correct and was flagged"
    if not row["holds"] and row["verdict"] != "violated" and not row["reason"]:
        return f"{row['name']} is broken, was missed, and no reason is known"
    return ""


def line(row: Row) -> list[str]:
    true = row["true"] if isinstance(row["true"], str) else f"{row['true']:.4g}"
    verdict = row["verdict"] if not row["reason"] else f"{row['verdict']}: {row['reason']}"
    kind = "correct" if row["holds"] else "broken"
    return [row["name"], kind, row["claim"], true, f"{row['lower']:.4g}", str(row["samples"]), verdict]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mechanisms whose name contains this text")
    parser.add_argument("--results", type=Path, help="read first, and written (default: benchmarks/zoo.json)")
    parser.add_argument("--stopping", action="store_true", help="audits that stop as soon as the claim is refuted")
    parser.add_argument("--table", action="store_true", help="print what is kept, run nothing")
    arguments = parser.parse_args()
    chosen = [one for one in everything() if arguments.only in one.name]
    if not chosen:
        parser.error(f"--only {arguments.only!r}: no mechanism has this in its name")
    path: Path = arguments.results or Path(f"benchmarks/zoo{'_stopping' if arguments.stopping else ''}.json")
    kept: dict[str, Row] = json.loads(path.read_text()) if path.exists() else {}
    todo = [] if arguments.table else [one for one in chosen if one.name not in kept]
    for one in tqdm(todo, disable=not sys.stderr.isatty()):
        kept[one.name] = audited(one, exhaustive=not arguments.stopping)
        path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    rows = [kept[one.name] for one in chosen if one.name in kept]
    print(table([line(row) for row in rows], ["mechanism", "", "claim", "true", "lower bound", "runs", "verdict"]))
    flagged = sum(row["verdict"] == "violated" for row in rows if not row["holds"])
    broken = sum(not row["holds"] for row in rows)
    print(
        f"\n{len(rows)} mechanisms; {flagged} of {broken} broken ones are flagged, {broken - flagged} are not, with the reason"
    )
    faults = [text for text in map(wrong, rows) if text]
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
