"""Every published privacy claim of P0 to P3 with a verdict, put together from what the checks found.

A claim is a statement of kind "privacy" or a row of the catalogue that claims something.  Its verdict is
  refuted              a check is violated: the counterexample, how far it exceeds what is claimed, and the erratum;
  not refuted          no check is: the class tried, the effort, and the largest ratios attained;
  not decidable here   all that was found is inconclusive: why.
A claim that nothing was found about has the verdict "no evidence", and fails the report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from tailproof.bounds.explicit import EXPLICIT
from tailproof.bounds.papers import p1, p2, p3
from tailproof.bounds.statements import Statement
from tailproof.bounds.theorems import theorems
from tailproof.refimpl.catalogue import ALGORITHMS, Algorithm, Setting
from tailproof.refimpl.claims import gaussian_delta
from tailproof.refimpl.laws import Finite, Gaussian, Laplace
from tailproof.refimpl.losses import Quadratic
from tailproof.verification import divergences
from tailproof.verification.amplification import TRIALS
from tailproof.verification.report import PASSING
from tailproof.verification.shown import Table

PAPERS = ("P0", "P1", "P2", "P3")
COUNTEREXAMPLES = Path(__file__).parent / "counterexamples"
REFUTED, STANDS, OPEN, NOTHING = "refuted", "not refuted", "not decidable here", "no evidence"

SHARPEST = (
    "transcript",
    "composition",
    "amplified claim",
    "final iterate",
    "sensitivity",
    "sensitivity search",
    "release privacy",
    "closed",
    "ledger",
    "measured ledger",
    "forced replay",
    "every row",
    "declarations",
    "state",
    "outcomes",
    "amplified claim, tiny δ",
    "amplification conditions",
)
"""The checks whose findings speak about a privacy claim, those first whose violation says most about it."""

DATA = "neighbours made for the algorithm, structured ones of sizes 1 and 1e6, searched ones from sizes 1e-2 to 1e12"


@dataclass(frozen=True)
class PublishedClaim:
    """See the module's text.  Attained values are (measured, bound) of the worst finding, None where there is none."""

    id: str
    label: str
    says: str
    rows: tuple[str, ...]
    verdict: str
    counterexample: str | None = None
    excess: dict[str, Any] | None = None  # of the counterexample: check, measured, bound, ratio, what
    moved: float | None = None  # by the counterexample, as a multiple of the claimed sensitivity
    errata: tuple[str, ...] = ()
    tested: tuple[str, ...] = ()
    pairs: int = 0
    sensitivity: float | None = None  # attained / claimed
    transcript: dict[str, Any] | None = None
    output: dict[str, Any] | None = None
    amplified: dict[str, Any] | None = None
    formula: dict[str, Any] | None = None  # a statement's explicit inequality: worst ratio and cases
    open: tuple[str, ...] = field(default=())
    reconstructed: bool = False  # whether our text of the paper lacks the claim's formulas

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self)) | {name: list(getattr(self, name)) for name in ("rows", "errata", "tested", "open")}


# --- what there is to judge ------------------------------------------------------------------------------------------------


def claiming_rows() -> list[Algorithm]:
    return [a for a in ALGORITHMS if a.paper in PAPERS and a.implementation is not None and not a.claim.startswith("none")]


def privacy_statements() -> list[Statement]:
    return [statement for statement in theorems() if statement.kind == "privacy" and statement.paper in PAPERS]


def published_claims(
    findings: list[dict[str, Any]], statements: list[dict[str, Any]], only: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """From the findings and the checked statements of a report; with `only`, the claims that rest on these rows."""
    chosen = set(only) if only else None
    claims = [_of_row(entry, findings) for entry in claiming_rows() if chosen is None or entry.id in chosen]
    for statement in privacy_statements():
        rows = _rows_of(statement)
        if chosen is None or (rows and set(rows) <= chosen):
            claims.append(_of_statement(statement, rows, findings, statements))
    return [replace(claim, errata=_with_those_of_statements(claim, claims)).to_json() for claim in claims]


def _with_those_of_statements(claim: PublishedClaim, claims: list[PublishedClaim]) -> tuple[str, ...]:
    """What is wrong with a statement about a row is worth knowing of the row."""
    about = [c.errata for c in claims if claim.id in c.rows and c.rows[0] == claim.id]
    return tuple(sorted({*claim.errata, *(entry for named in about for entry in named)}))


def failures(claims: list[dict[str, Any]]) -> list[str]:
    """A claim without evidence; a refutation that names no erratum."""
    lines = [f"{c['id']}: nothing was found about this published claim" for c in claims if c["verdict"] == NOTHING]
    return lines + [
        f"{c['id']}: refuted, and no erratum says so" for c in claims if c["verdict"] == REFUTED and not c["errata"]
    ]


def _rows_of(statement: Statement) -> tuple[str, ...]:
    """Its algorithms that are built, with their mean estimators."""
    built = [a.id for a in ALGORITHMS if a.implementation is not None]
    return tuple(name for row in statement.algorithms for name in (row, f"{row}.mean") if name in built)


# --- verdicts ------------------------------------------------------------------------------------------------------------------


def _of_row(entry: Algorithm, findings: list[dict[str, Any]]) -> PublishedClaim:
    return _judged(entry.id, entry.place, f"{entry.name}: {entry.claim}", (entry.id,), findings, None, ())


def _of_statement(
    statement: Statement, rows: tuple[str, ...], findings: list[dict[str, Any]], statements: list[dict[str, Any]]
) -> PublishedClaim:
    formula = _formula(statement, statements)
    claim = _judged(statement.id, statement.label, statement.says, rows, findings, formula, statement.errata)
    return replace(claim, reconstructed=statement.reconstructed)


def _judged(
    identifier: str,
    label: str,
    says: str,
    rows: tuple[str, ...],
    findings: list[dict[str, Any]],
    formula: dict[str, Any] | None,
    known: tuple[str, ...],
) -> PublishedClaim:
    about = [f for f in findings if f["algorithm"] in rows and f["check"] in SHARPEST]
    violated = [f for f in about if f["status"] == "violated"]
    fails = formula is not None and not formula["holds"]
    settled = [f for f in about if f["status"] in PASSING]
    if violated or fails:
        verdict = REFUTED
    elif settled or formula is not None:
        verdict = STANDS
    else:
        verdict = OPEN if about else NOTHING
    worst = min(violated, key=lambda f: (SHARPEST.index(f["check"]), -_ratio(f)), default=None)
    honest = [f for f in about if f["status"] != "violated"]
    unsettled = [f for f in about if f["status"] in ("violated", "inconclusive")]
    named = {entry for f in unsettled for entry in f["errata"]}
    named |= set(known) | ({formula["erratum"]} if fails and formula and formula["erratum"] else set())
    return PublishedClaim(
        id=identifier,
        label=label,
        says=says,
        rows=rows,
        verdict=verdict,
        counterexample=_counterexample(worst) if worst else (formula["case"] if fails and formula else None),
        excess=_attained(worst) if worst else None,
        moved=max((_ratio(f) for f in violated if f["check"].startswith("sensitivity")), default=None),
        errata=tuple(sorted(named)),
        tested=tuple(_tested(rows, about)),
        pairs=sum(f["tried"] for f in about),
        sensitivity=max((_ratio(f) for f in honest if f["check"].startswith("sensitivity")), default=None),
        transcript=_worst(honest, "transcript", "composition"),
        output=_worst(honest, "final iterate"),
        amplified=_worst(honest, "amplified claim"),
        formula=formula,
        open=tuple(dict.fromkeys(f"{f['check']}: {f['detail']}" for f in unsettled if f["status"] == "inconclusive")),
    )


def _ratio(finding: dict[str, Any]) -> float:
    measured, bound = finding["measured"], finding["bound"]
    if measured is None or bound is None:
        return -math.inf
    return float(measured) / float(bound) if float(bound) > 0 else math.inf


def _attained(finding: dict[str, Any]) -> dict[str, Any]:
    ratio = _ratio(finding)
    shown = ratio if math.isfinite(ratio) else str(ratio)
    return {key: finding[key] for key in ("check", "measured", "bound", "detail", "setting")} | {"ratio": shown}


def _worst(findings: list[dict[str, Any]], *checks: str) -> dict[str, Any] | None:
    found = max((f for f in findings if f["check"] in checks), key=_ratio, default=None)
    return None if found is None or found["measured"] is None else _attained(found)


def _counterexample(finding: dict[str, Any]) -> str:
    """A file that ships, where there is one; otherwise the name of the witness beside the report."""
    if finding["expected"] and (COUNTEREXAMPLES / f"{finding['algorithm']}.json").exists():
        return f"counterexamples/{finding['algorithm']}.json"
    return "witnesses/" + re.sub(r"[^A-Za-z0-9.]+", "-", f"{finding['algorithm']} {finding['check']}") + ".json"


def _tested(rows: tuple[str, ...], about: list[dict[str, Any]]) -> Iterator[str]:
    """The settings that findings speak about."""
    seen = {f["setting"] for f in about}
    for entry in ALGORITHMS:
        if entry.id in rows and entry.implementation is not None:
            known = (*entry.implementation.settings, *TRIALS.get(entry.id, ()))
            settings = [setting for setting in known if str(setting) in seen]
            if settings:
                yield f"{entry.id}: {'; '.join(dict.fromkeys(map(_class, settings)))}; {DATA}"


def _class(setting: Setting) -> str:
    loss = setting.parameters.get("loss")
    if isinstance(loss, Quadratic):
        loss = f"quadratic of condition {np.linalg.cond(loss.matrix):.3g}"
    elif loss is not None and not isinstance(loss, str):
        loss = re.sub(r"(?<!^)(?=[A-Z])", "-", type(loss).__name__).lower()
    refuted = f" (refuted: {setting.refuted})" if setting.refuted else ""
    return f"{'means' if loss is None else f'{loss} loss'}, n = {setting.n}, {setting.d} columns{refuted}"


# --- statements with an explicit inequality --------------------------------------------------------------------------------------

ERRATUM = {"P1.Thm7.sensitivity": "P1.Thm7.estimator"}  # of an explicit statement, where it has another name


def _formula(statement: Statement, statements: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The inequality checked elsewhere in the report, or here."""
    names = {row.id for row in EXPLICIT if statement.explicit is not None and row.function is statement.explicit}
    checked = {s["reading"]: s for s in statements if s["id"] in names}
    if checked:
        printed = checked["printed"]
        return {
            "id": printed["id"],
            "holds": printed["status"] == "consistent",
            "ratio": printed["measured"],
            "cases": printed["cases"],
            "case": _case(printed),
            "corrected": checked["corrected"]["measured"] if "corrected" in checked else None,
            "erratum": ERRATUM.get(printed["id"], printed["id"]),
        }
    if statement.id not in LEMMAS:
        return None
    cases = list(LEMMAS[statement.id]())
    ratio, case = max(((measured / bound, case) for case, measured, bound in cases), key=lambda one: one[0])
    holds = ratio <= 1 + 1e-9
    return {
        "id": statement.id,
        "holds": holds,
        "ratio": ratio,
        "cases": len(cases),
        "case": case,
        "corrected": None,
        "erratum": None,
    }


def _case(printed: dict[str, Any]) -> str:
    """The case that attains the ratio."""
    shown = {
        name: f"{value:.6g}" if isinstance(value, float) else value
        for name, value in (printed.get("worst") or printed["witness"] or {}).items()
    }
    return ", ".join([printed["id"], *(f"{name} = {value}" for name, value in shown.items())])


Case = tuple[str, float, float]  # what, measured, bound
_DELTAS = (1e-9, 1e-6, 1e-3, 0.1, 0.5)


def _conversion(epsilon_of: Callable[[float, float], float]) -> Callable[[], Iterator[Case]]:
    """ρ-zCDP to (ε, δ), on the Gaussian shift of √(2ρ), which is ρ-zCDP and no better."""

    def cases() -> Iterator[Case]:
        for rho, delta in product((1e-4, 1e-2, 0.1, 1.0, 10.0), _DELTAS):
            yield f"ρ = {rho:g}, δ = {delta:g}", gaussian_delta(math.sqrt(2 * rho), epsilon_of(rho, delta)), delta

    return cases


def coins_delta(epsilon: float, total: float, *, times: int, leak: float = 0.0) -> float:
    """Exact δ(total) of `times` randomised responses of ε each, which reveal everything with probability `leak`: the worst
    composition of (ε, leak)-DP mechanisms [Kairouz, Oh and Viswanath 2015]."""
    heads = np.arange(times + 1)
    losses = (2 * heads - times) * epsilon
    chances = binom.pmf(heads, times, 1 / (1 + math.exp(-epsilon)))
    kept = float(chances @ -np.expm1(np.minimum(0.0, total - losses)))
    return -math.expm1(times * math.log1p(-leak)) + (1 - leak) ** times * kept


def _advanced() -> Iterator[Case]:
    for epsilon, times, slack, leak in product((0.01, 0.1, 0.5, 1.0), (1, 10, 100), _DELTAS, (0.0, 1e-6)):
        total = p2.advanced_composition_epsilon(epsilon=epsilon, times=times, slack=slack)
        measured = coins_delta(epsilon, total, times=times, leak=leak)
        yield f"{times} times ({epsilon:g}, {leak:g}), δ' = {slack:g}", measured, times * leak + slack


def _shares(share: Callable[..., float]) -> Callable[[], Iterator[Case]]:
    def cases() -> Iterator[Case]:
        for epsilon, delta, times in product((0.01, 0.5, 0.999), _DELTAS, (1, 10, 1000)):
            each = share(epsilon=epsilon, delta=delta, steps=times)
            measured = coins_delta(each, epsilon, times=times, leak=delta / (2 * times))
            yield f"{times} shares of ({epsilon:g}, {delta:g})", measured, delta

    return cases


def _composed() -> Iterator[Case]:
    for rho, times in product((1e-3, 0.1, 2.0), (1, 7, 100)):
        shifted = Gaussian(np.full(times, math.sqrt(2 * rho)), 1.0)
        measured = divergences.zcdp(Gaussian(np.zeros(times), 1.0), shifted)
        yield f"{times} Gaussian releases of ρ = {rho:g}", measured, p2.composed_zcdp(rho=rho, times=times)


def _pure() -> Iterator[Case]:
    for epsilon in (1e-3, 0.1, 1.0, 4.0):
        response = Finite(np.array([epsilon, 0.0])), Finite(np.array([0.0, epsilon]))
        yield f"randomised response, ε = {epsilon:g}", divergences.zcdp(*response), p2.pure_zcdp(epsilon=epsilon)


def _gaussian() -> Iterator[Case]:
    for rho, d in product((1e-3, 0.5, 3.0), (1, 5)):
        scale = math.sqrt(p2.gaussian_variance(sensitivity=2.0, rho=rho))
        moved = Gaussian(np.full(d, 2.0 / math.sqrt(d)), scale)
        yield f"ρ = {rho:g}, d = {d}", divergences.zcdp(Gaussian(np.zeros(d), scale), moved), rho


def _laplace() -> Iterator[Case]:
    for epsilon, d in product((1e-2, 1.0, 5.0), (1, 5)):
        scale = p3.laplace_scale(sensitivity=2.0, epsilon=epsilon)
        moved = Laplace(np.full(d, 2.0 / d), scale)
        yield f"ε = {epsilon:g}, d = {d}", divergences.max_loss(Laplace(np.zeros(d), scale), moved), epsilon


LEMMAS: dict[str, Callable[[], Iterator[Case]]] = {
    "P1.L3": _conversion(lambda rho, delta: p1.zcdp_conversion(epsilon=math.sqrt(2 * rho), delta=delta)),
    "P2.L1.1": _advanced,
    "P2.L1.2": _composed,
    "P2.L1.3": _pure,
    "P2.L1.4": _conversion(lambda rho, delta: p2.zcdp_conversion(rho=rho, delta=delta)),
    "P2.L2": _gaussian,
    "P2.E32": _shares(p2.step_epsilon),
    "P3.L1": _shares(p3.composition_share),
    "P3.L2": _laplace,
}
"""Cited lemmas, each on the mechanisms that are worst for it: (what, measured, bound)."""


# --- for reading ----------------------------------------------------------------------------------------------------

HEADER = [
    "claim",
    "verdict",
    "largest sensitivity",
    "transcript",
    "output's ε",
    "amplified δ",
    "pairs",
    "counterexample or errata",
]


def cells(claim: dict[str, Any]) -> list[str]:
    """One line of the table, in the order of `HEADER`."""
    shown = [claim["id"], claim["verdict"], _shown(claim["sensitivity"])]
    shown += [_of_bound(claim[name]) for name in ("transcript", "output", "amplified")]
    if claim["formula"] is not None and shown[2] == "–":
        shown[3] = f"formula: {_shown(claim['formula']['ratio'])} of the bound, {claim['formula']['cases']} cases"
    named = [claim["counterexample"] or "", *claim["errata"]]
    if claim["excess"] is not None:
        named.insert(0, f"{claim['excess']['check']} {_of_bound(claim['excess'])}")
    if claim["moved"] is not None:
        named.insert(1, f"{_shown(claim['moved'])} times the claimed sensitivity")
    return [*shown, str(claim["pairs"] or "–"), ", ".join(filter(None, named))]


def _of_bound(attained: dict[str, Any] | None) -> str:
    return "–" if attained is None else f"{_shown(attained['measured'])} of {_shown(attained['bound'])}"


def _shown(value: float | str | None) -> str:
    return value if isinstance(value, str) else "–" if value is None else f"{value:.4g}"


def overview(claims: list[dict[str, Any]]) -> Table:
    return Table([cells(claim) for claim in claims], HEADER)


def summary(claims: list[dict[str, Any]]) -> str:
    counts = {verdict: sum(c["verdict"] == verdict for c in claims) for verdict in (STANDS, REFUTED, OPEN, NOTHING)}
    return f"published privacy claims of P0-P3: {len(claims)}, " + ", ".join(
        f"{n} {verdict}" for verdict, n in counts.items() if n
    )
