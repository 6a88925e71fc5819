"""The papers checked by machine: what they print against what follows, and what they say of their rates."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tailproof.bounds.agreement import agreement
from tailproof.bounds.compare import Dominance, Separation
from tailproof.bounds.derivations import check_choice, check_derivation
from tailproof.bounds.errata import errata
from tailproof.bounds.statements import Comparison
from tailproof.bounds.theorems import choices, comparisons, theorem, theorems
from tailproof.refimpl.validation import known
from tailproof.verification.bound_checks import Outcome, check_comparison
from tailproof.verification.shown import Shown, Table
from tailproof.verification.workers import Task, Workers, run_tasks

PAPERS = tuple(dict.fromkeys(statement.paper for statement in theorems()))
AGREEMENTS = ("same", "same without logarithms", "printed is larger", "printed is smaller", "incomparable", "undecided")


def printed_against_derived(paper: str) -> list[dict[str, Any]]:
    """Every statement of the paper that has both rates."""
    found = [agreement(statement) for statement in theorems() if statement.paper == paper]
    return [
        {
            "id": one.statement.id,
            "label": one.statement.label,
            "reconstructed": one.statement.reconstructed,
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
        entries.append(entry_of(comparison, *check_comparison(comparison)))
    return entries


def entry_of(comparison: Comparison, holds: bool | None, found: list[Dominance | Separation]) -> dict[str, Any]:
    """A decided comparison as plain data."""
    return {
        "id": comparison.id,
        "place": comparison.place,
        "reconstructed": comparison.reconstructed,
        "says": comparison.says,
        "claim": f"{comparison.left}  {comparison.relation}  {comparison.right}",
        "left": comparison.left,
        "relation": comparison.relation,
        "right": comparison.right,
        "where": list(comparison.where),
        "holds": holds,
        "expected": comparison.holds,
        "errata": list(comparison.errata),
        "verdicts": [result.verdict for result in found],
        "explained": [result.explain() for result in found],
        "certificates": [result.document for result in found],
    }


def derived(paper: str) -> list[dict[str, Any]]:
    """Every statement of the paper that follows from another by its choices."""
    found = [check_derivation(s) for s in theorems() if s.paper == paper and s.choices and s.derived]
    return [
        {
            "id": one.statement,
            "reconstructed": theorem(one.statement).reconstructed,
            "base": one.base,
            "verdict": one.verdict,
            "logs": one.logs,
        }
        for one in found
    ]


def chosen(paper: str) -> list[dict[str, Any]]:
    """Every choice of free parameters of the paper, against the best."""
    found = [check_choice(choice) for choice in choices() if choice.statement.startswith(f"{paper}.")]
    return [
        {
            "id": one.choice.statement,
            "reconstructed": theorem(one.choice.statement).reconstructed,
            "chosen": dict(one.choice.chosen),
            "chosen_rate": one.chosen.text,
            "best_rate": one.best.text,
            "attained": isinstance(one.attained, Dominance),
            "expected": one.choice.attained,
            "factor": one.factor.factor if one.factor else None,
            "note": one.choice.note,
        }
        for one in found
    ]


TASKS = {"statements": printed_against_derived, "comparisons": compared, "derivations": derived, "choices": chosen}


def failures(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    """What no erratum explains: one line each."""
    lines = [
        f"{a['id']}: {a['verdict']}, and no erratum says why"
        for a in found.get("statements", [])
        if a["claims_more"] and not a["errata"]
    ]
    comparisons_ = found.get("comparisons", [])
    lines += [f"{c['id']}: {c['claim']} comes out as {c['holds']}" for c in comparisons_ if c["holds"] is not c["expected"]]
    lines += [
        f"{c['id']}: does not hold, and no erratum says why" for c in comparisons_ if not c["holds"] and not c["errata"]
    ]
    lines += [
        f"{d['id']}: does not follow from {d['base']} at its choices ({d['verdict']})"
        for d in found.get("derivations", [])
        if d["verdict"] not in ("exact", "generous")
    ]
    lines += [
        f"{c['id']}: its choice {'attains' if c['attained'] else 'does not attain'} the best rate, recorded otherwise"
        for c in found.get("choices", [])
        if c["attained"] is not c["expected"]
    ]
    return lines


def check_papers(only: list[str] | None = None, workers: Workers | None = None) -> Outcome:
    """`tailproof theorem --check`: everything that can be decided about the papers' rates, summed up by paper."""
    where = f"--check takes a paper, one of {', '.join(PAPERS)}"
    papers = [known("id", paper, PAPERS, where) for paper in only or PAPERS]
    work = [(paper, name) for paper in papers for name in TASKS]
    tasks = [Task(f"{paper} {name}", TASKS[name], (paper,)) for paper, name in work]
    value: dict[str, dict[str, list[dict[str, Any]]]] = {paper: {} for paper in papers}
    for (paper, name), done in zip(work, run_tasks(tasks, workers or Workers(), {"command": "theorem"}), strict=True):
        value[paper][name] = done.result
    wrong = [line for entry in value.values() for line in failures(entry)]
    return (1 if wrong else 0), {"papers": value, "failures": wrong}, _text(value, wrong)


def _text(value: dict[str, Any], wrong: list[str]) -> Shown:
    differ = [
        [a["id"], a["label"], _source(a), a["verdict"], ", ".join(a["errata"])]
        for entry in value.values()
        for a in entry["statements"]
        if not a["verdict"].startswith("same")
    ]
    false = [
        [c["id"], c["place"], _source(c), "does not hold" if c["holds"] is False else "undecided", ", ".join(c["errata"])]
        for entry in value.values()
        for c in entry["comparisons"]
        if not c["holds"]
    ]
    worse = [
        [c["id"], ", ".join(c["chosen"]), _source(c), c["factor"] or "no power of one monomial", c["note"]]
        for entry in value.values()
        for c in entry["choices"]
        if not c["attained"]
    ]
    return [
        Table(differ, ["statement", "label", "source", "paper against derivation", "errata"]),
        "",
        Table(false, ["comparison", "place", "source", "verdict", "errata"]),
        "",
        Table(worse, ["statement", "choice of", "source", "loses against the best choice", "note"]),
        "",
        Table([_counts(paper, entry) for paper, entry in value.items()], _HEADER),
        *([""] if wrong else []),
        *(f"FAILED  {line}" for line in wrong),
    ]


def _source(entry: dict[str, Any]) -> str:
    return "reconstructed" if entry["reconstructed"] else "as published"


_HEADER = [
    "paper",
    "statements",
    "reconstructed",
    "with both rates",
    *AGREEMENTS,
    "comparisons",
    "hold",
    "do not",
    "undecided",
]
_HEADER += ["derivations", "exact", "generous", "choices", "best", "errata"]


def _counts(paper: str, entry: dict[str, Any]) -> list[str]:
    verdicts = Counter(a["verdict"] for a in entry["statements"])
    holds = Counter(c["holds"] for c in entry["comparisons"])
    return [
        paper,
        str(sum(statement.paper == paper for statement in theorems())),
        str(sum(statement.paper == paper and statement.reconstructed for statement in theorems())),
        str(len(entry["statements"])),
        *(str(verdicts[verdict]) for verdict in AGREEMENTS),
        str(len(entry["comparisons"])),
        *(str(holds[answer]) for answer in (True, False, None)),
        str(len(entry["derivations"])),
        *(str(sum(d["verdict"] == word for d in entry["derivations"])) for word in ("exact", "generous")),
        str(len(entry["choices"])),
        str(sum(c["attained"] for c in entry["choices"])),
        str(sum(e.paper == paper for e in errata())),
    ]
