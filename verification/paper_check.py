"""The papers checked by machine: what they print against what follows, and what they say of their rates."""

from __future__ import annotations

from collections import Counter
from typing import Any

from joblib import Parallel, delayed
from tqdm import tqdm

from bounds.agreement import agreement
from bounds.errata import errata
from bounds.theorems import comparisons, theorems
from refimpl.validation import InputError
from verification.bound_checks import Outcome, check_comparison
from verification.report import table

PAPERS = tuple(dict.fromkeys(statement.paper for statement in theorems()))
AGREEMENTS = ("same", "same without logarithms", "printed is larger", "printed is smaller", "incomparable", "undecided")


def printed_against_derived(paper: str) -> list[dict[str, Any]]:
    """Every statement of the paper that has both rates."""
    found = [agreement(statement) for statement in theorems() if statement.paper == paper]
    return [
        {
            "id": one.statement.id,
            "label": one.statement.label,
            "printed": one.statement.printed,
            "derived": one.statement.derived,
            "verdict": one.verdict,
            "claims_more": one.claims_more,
            "errata": list(one.statement.errata),
            "reason": one.reason,
            "certificates": list(one.documents),
        }
        for one in found
        if one is not None
    ]


def compared(paper: str) -> list[dict[str, Any]]:
    """Every comparison that the paper makes, decided."""
    entries = []
    for comparison in comparisons():
        if not comparison.id.startswith(f"{paper}."):
            continue
        holds, found = check_comparison(comparison)
        entries.append(
            {
                "id": comparison.id,
                "place": comparison.place,
                "says": comparison.says,
                "claim": f"{comparison.left}  {comparison.relation}  {comparison.right}",
                "where": list(comparison.where),
                "holds": holds,
                "expected": comparison.holds,
                "errata": list(comparison.errata),
                "verdicts": [result.verdict for result in found],
            }
        )
    return entries


def failures(agreements: list[dict[str, Any]], comparisons_: list[dict[str, Any]]) -> list[str]:
    """What no erratum explains: one line each."""
    lines = [
        f"{a['id']}: {a['verdict']}, and no erratum says why" for a in agreements if a["claims_more"] and not a["errata"]
    ]
    lines += [f"{c['id']}: {c['claim']} comes out as {c['holds']}" for c in comparisons_ if c["holds"] is not c["expected"]]
    lines += [
        f"{c['id']}: does not hold, and no erratum says why" for c in comparisons_ if not c["holds"] and not c["errata"]
    ]
    return lines


def check_papers(chosen: list[str] | None = None, *, jobs: int = 1, progress: bool = False) -> Outcome:
    """`tailproof theorem --check`: everything that can be decided about the papers' rates, summed up by paper."""
    for paper in chosen or []:
        if paper not in PAPERS:
            raise InputError(f"id = {paper!r}: must be one of {', '.join(PAPERS)} with --check")
    papers = chosen or list(PAPERS)
    work = [delayed(task)(paper) for paper in papers for task in (printed_against_derived, compared)]
    results = list(
        tqdm(Parallel(n_jobs=jobs, return_as="generator")(work), total=len(work), unit="task", disable=not progress)
    )
    value = {
        paper: {"statements": agreements, "comparisons": decided}
        for paper, agreements, decided in zip(papers, results[::2], results[1::2], strict=True)
    }
    wrong = [line for entry in value.values() for line in failures(entry["statements"], entry["comparisons"])]
    return (1 if wrong else 0), {"papers": value, "failures": wrong}, _text(value, wrong)


def _text(value: dict[str, Any], wrong: list[str]) -> str:
    differ = [
        [a["id"], a["label"], a["verdict"], ", ".join(a["errata"])]
        for entry in value.values()
        for a in entry["statements"]
        if not a["verdict"].startswith("same")
    ]
    false = [
        [c["id"], c["place"], "does not hold" if c["holds"] is False else "undecided", ", ".join(c["errata"])]
        for entry in value.values()
        for c in entry["comparisons"]
        if not c["holds"]
    ]
    parts = [
        table(differ, ["statement", "label", "print against derivation", "errata"]),
        table(false, ["comparison", "place", "verdict", "errata"]),
        table([_counts(paper, entry) for paper, entry in value.items()], _HEADER),
        *[f"FAILED  {line}" for line in wrong],
    ]
    return "\n\n".join(parts)


_HEADER = ["paper", "statements", "with both rates", *AGREEMENTS, "comparisons", "hold", "do not", "undecided", "errata"]


def _counts(paper: str, entry: dict[str, Any]) -> list[str]:
    verdicts = Counter(a["verdict"] for a in entry["statements"])
    holds = Counter(c["holds"] for c in entry["comparisons"])
    return [
        paper,
        str(sum(statement.paper == paper for statement in theorems())),
        str(len(entry["statements"])),
        *(str(verdicts[verdict]) for verdict in AGREEMENTS),
        str(len(entry["comparisons"])),
        *(str(holds[answer]) for answer in (True, False, None)),
        str(sum(e.paper == paper for e in errata())),
    ]
