"""The bound checker as commands: comparisons, statements, and everything that is known of one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tailproof.bounds.agreement import Answer, both_ways
from tailproof.bounds.atlas import atlas
from tailproof.bounds.citations import RECONSTRUCTED, citations, cite
from tailproof.bounds.compare import Dominance, Separation, Undecided, compare
from tailproof.bounds.derivations import ChoiceCheck, Derivation, check_choice, check_derivation
from tailproof.bounds.errata import errata
from tailproof.bounds.smtlib import export
from tailproof.bounds.statements import Comparison, Statement
from tailproof.bounds.theorems import choices, theorem, theorems
from tailproof.refimpl.validation import InputError
from tailproof.verification import files
from tailproof.verification.atlas import document, page
from tailproof.verification.shown import Shown, Table

SOURCES = {"printed": "as published", "proof": "within a proof", "reconstructed": "reconstructed", "ours": "ours"}
Outcome = tuple[int, dict[str, Any], Shown]  # exit code, JSON, text


def compare_rates(
    left: str, right: str, *, where: list[str], uniform: bool = False, logs: bool = True, smt2: str | None = None
) -> Outcome:
    """Exit code 0 and a certificate, 1 and a path, 3 if undecided."""
    try:
        found = compare(left, right, where=where, uniform=uniform, logs=logs)
    except Undecided as reason:
        return 3, {"verdict": "undecided", "reason": str(reason)}, f"undecided: {reason}"
    if smt2 is not None:
        files.write("smt2", smt2, export(found.document))
    if isinstance(found, Dominance):
        return 0, {"verdict": "dominated", "certificate": found.document}, found.explain()
    ray = {"verdict": "separated", "ray": found.document["witness"], "certificate": found.document}
    return 1, ray, f"{found.explain()}\nso no constant makes the first rate at most the second (exit code 1)"


def list_theorems() -> Outcome:
    entries = [_entry(statement) for statement in theorems()]
    rows = [[s.id, s.label, s.kind, SOURCES[s.source], s.says] for s in theorems()]
    restored = sum(bool(e["reconstructed"]) for e in entries)
    notes = [
        f"{restored} of {len(entries)} statements are reconstructed: the texts we have of P1 and P4 lack their formulas."
    ]
    notes += [f"{paper.id}  {paper.line}  {paper.completeness}" for paper in citations()]
    return 0, {"theorems": entries}, [Table(rows, ["id", "label", "kind", "source", "says"]), "", *notes]


def show_theorem(identifier: str) -> Outcome:
    """One statement: print against derivation, derivation against lemma and choices, the best choices, what is wrong with it."""
    statement = theorem(identifier)
    derivation = check_derivation(statement) if statement.choices and statement.derived else None
    best = [check_choice(choice) for choice in choices() if choice.statement == statement.id]
    value = _entry(statement) | {"checks": _checks(statement)}
    value["derivation"] = None if derivation is None else _derivation(derivation)
    value["best_choices"] = [_best(check) for check in best]
    lines = [
        f"{statement.id}  {statement.label}  [{statement.kind}, {SOURCES[statement.source]}]",
        f"in {cite(statement.paper)}",
    ]
    lines += [RECONSTRUCTED, statement.says] if statement.reconstructed else [statement.says]
    for name, items in (("where", statement.where), ("assumes", statement.assumptions)):
        lines += [f"{name:15}{item}" for item in items]
    published = "reconstructed" if statement.reconstructed else "as published"
    lines += [f"{published:15}{statement.printed}"] if statement.printed else []
    lines += [f"derived        {statement.derived}"] if statement.derived else []
    lines += [f"hides          {statement.hidden}"] if statement.hidden else []
    lines += [f"choice         {name} = {text}" for name, text in statement.choices.items()]
    lines += [f"from           {other}" for other in statement.follows_from]
    lines += [f"step           {step}" for step in statement.steps]
    lines += [f"used by        {', '.join(statement.algorithms)}"] if statement.algorithms else []
    lines += [
        f"check          {check['claim'].replace('printed', published)}: {check['verdict']}" for check in value["checks"]
    ]
    lines += [_derivation_line(derivation)] if derivation is not None else []
    lines += [line for check in best for line in _best_lines(check)]
    related = [e for e in errata() if e.id in statement.errata or e.concerns(statement.paper, statement.label)]
    value["errata"] = [e.id for e in related]
    lines += [f"erratum        {e.id}: {e.found}" for e in related]
    return 0, value, "\n".join(lines)


def draw_atlas(file: str) -> Outcome:
    """Writes the page; the JSON has the same, with every certificate.  Exit code 3 if a pair of rates is undecided."""
    path = Path(file)
    if not path.parent.is_dir() or path.is_dir():  # before a minute of work
        raise InputError(f"atlas = {file!r}: must be a file in a folder that exists")
    found = atlas()
    files.write("atlas", path, page(found))
    counts = found.counts()
    lines = [
        f"{counts['groups']} groups, {counts['pairs']} ordered pairs of rates: {counts['dominated']} dominated, "
        f"{counts['separated']} separated, {counts['undecided']} undecided; {counts['rates']} rates listed",
        f"atlas: {file}",
    ]
    return (3 if counts["undecided"] else 0), document(found), "\n".join(lines)


def _entry(statement: Statement) -> dict[str, Any]:
    return {
        "id": statement.id,
        "paper": statement.paper,
        "label": statement.label,
        "kind": statement.kind,
        "source": statement.source,
        "reconstructed": statement.reconstructed,
        "citation": cite(statement.paper),
        "says": statement.says,
        "place": statement.place,
        "assumptions": list(statement.assumptions),
        "where": list(statement.where),
        "printed": statement.printed,
        "derived": statement.derived,
        "hidden": statement.hidden,
        "choices": dict(statement.choices),
        "follows_from": list(statement.follows_from),
        "steps": list(statement.steps),
        "algorithms": list(statement.algorithms),
    }


def _checks(statement: Statement) -> list[dict[str, Any]]:
    """Print against derivation, both ways, with certificates."""
    found = both_ways(statement) or ()
    return [
        {"claim": claim} | _answer(answer)
        for claim, answer in zip(("derived ≲ printed", "printed ≲ derived"), found, strict=False)
    ]


def _answer(answer: Answer) -> dict[str, Any]:
    if isinstance(answer, str):
        return {"verdict": "undecided", "reason": answer}
    return {"verdict": answer.verdict, "certificate": answer.document}


def _derivation(found: Derivation) -> dict[str, Any]:
    return {
        "base": found.base,
        "verdict": found.verdict,
        "logs": found.logs,
        "substituted": found.substituted.text,
        "derived": found.derived.text,
        "follows": _answer(found.follows),
        "sharp": _answer(found.sharp),
    }


def _derivation_line(found: Derivation) -> str:
    words = {
        "exact": f"follows from {found.base} at the choices, exactly",
        "generous": f"follows from {found.base}, generously: the choices give a sharper rate",
        "fails": f"does not follow from {found.base} at the choices",
        "undecided": f"from {found.base} at the choices: undecided",
    }
    return f"derives        {words[found.verdict]}{'' if found.logs else ', without logarithms'}"


def _best(check: ChoiceCheck) -> dict[str, Any]:
    return {
        "rate": check.choice.rate,
        "where": list(check.choice.where),
        "logs": check.choice.logs,
        "chosen": dict(check.choice.chosen),
        "chosen_rate": check.chosen.text,
        "best_rate": check.best.text,
        "attained": _answer(check.attained),
        "below": _answer(check.below),
        "factor": check.factor and check.factor.factor,
        "note": check.choice.note,
        "steps": [
            {
                "parameter": step.parameter,
                "choice": step.choice.text,
                "rate": step.rate.text,
                "optimal": step.optimal.document,
                "achieved": step.achieved.document,
            }
            for step in check.steps
        ],
    }


def _best_lines(check: ChoiceCheck) -> list[str]:
    names = ", ".join(check.choice.chosen)
    verdict = {Dominance: "attained by the choice", Separation: "not attained by the choice"}
    word = verdict.get(type(check.attained), "the choice is undecided")
    factor = f", which loses a factor {check.factor.factor} at worst" if check.factor and check.factor.factor else ""
    lines = [f"best           over {names} of {check.choice.rate}", f"               is {check.best.text}: {word}{factor}"]
    return lines + ([f"               {check.choice.note}"] if check.choice.note else [])


def check_comparison(comparison: Comparison) -> tuple[bool | None, list[Dominance | Separation]]:
    """Whether what the paper says holds, with certificates; None if undecided."""
    try:
        found = [compare(comparison.left, comparison.right, where=comparison.where)]
        if comparison.relation == "==":
            found.append(compare(comparison.right, comparison.left, where=comparison.where))
    except Undecided:
        return None, []
    dominated = all(isinstance(result, Dominance) for result in found)
    return dominated is (comparison.relation != "not <="), found
