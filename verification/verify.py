"""`tailproof verify`: run every task, gather the report.  Results depend on the seed only, not on order or workers."""

from __future__ import annotations

import json
import platform
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from tqdm import tqdm

from bounds.errata import errata
from bounds.explicit import EXPLICIT
from bounds.theorems import theorems
from refimpl.catalogue import Algorithm, algorithm
from verification import mutants, page, paper_check, published_claims, sandwich, second_stage, statements, sweep_runs
from verification.check import FULL, QUICK, Effort, MutantResult, honest_findings, implemented, judge_mutant
from verification.page import replay
from verification.report import Finding, number, plain, table
from verification.sandwich_pairs import PAIRS

SANDWICH_RUNS = 200
PACKAGES = ("tailproof", "numpy", "scipy", "sympy", "cvxpy")  # whose versions may change a number


@dataclass(frozen=True)
class Task:
    """A piece of work, as data: workers look the rest up by name."""

    kind: str
    name: str
    detail: str = ""


def tasks(only: list[str] | None, effort: Effort) -> list[Task]:
    """The algorithms first, the last ones before the others: they take longest.  Statements and errata belong to papers, so a
    filter leaves them out."""
    chosen = [entry.id for entry in implemented(only)]
    work = [Task("algorithm", identifier) for identifier in reversed(chosen)]
    work += [Task("mutant", m.algorithm, m.name) for m in reversed(mutants.MUTANTS) if m.algorithm in chosen]
    if not only:
        about = list(paper_check.TASKS) if effort == FULL else ["comparisons"]
        work += [Task("paper", paper, name) for paper in paper_check.PAPERS for name in about]
        work += [Task("statement", trial.id, trial.reading) for trial in statements.TRIALS]
        work += [Task("sweep", *names) for names in sweep_runs.names(full=effort == FULL)]
        work += [Task("sandwich", pair.name) for pair in PAIRS if effort == FULL]
        work.append(Task("study", "second stage"))
        work.append(Task("errata", "errata"))
    return work


def perform(task: Task, seed: int, effort: Effort) -> tuple[Any, float]:
    """(result, seconds) of one task."""
    start = time.perf_counter()
    result: Any
    if task.kind == "mutant":
        result = judge_mutant(mutants.mutant(task.name, task.detail), seed, effort)
    elif task.kind == "algorithm":
        result = list(honest_findings(algorithm(task.name), seed, effort))
    elif task.kind == "statement":
        result = statements.run(next(t for t in statements.TRIALS if (t.id, t.reading) == (task.name, task.detail)))
    elif task.kind == "sweep":
        result = sweep_runs.perform(task.name, task.detail, seed, full=effort == FULL)
    elif task.kind == "sandwich":
        pair = next(pair for pair in PAIRS if pair.name == task.name)
        result = sandwich.measure(pair, runs=SANDWICH_RUNS, seed=seed).to_json()
    elif task.kind == "study":
        result = second_stage.study(seed, runs=effort.runs // 5 if effort == QUICK else effort.runs // 10)
    elif task.kind == "paper":
        result = paper_check.TASKS[task.detail](task.name)
        result = result if task.detail == "comparisons" else [_without_certificates(entry) for entry in result]
    else:
        result = [(entry, entry.recheck()) for entry in errata()]
        result = [{**erratum_json(entry), "stands": stands} for entry, stands in result]
    return result, time.perf_counter() - start


def algorithm_json(entry: Algorithm) -> dict[str, str]:
    return {key: getattr(entry, key) for key in ("id", "name", "paper", "place", "claim")}


def erratum_json(entry: Any) -> dict[str, Any]:
    keys = ("id", "paper", "place", "kind", "printed", "found", "evidence")
    return {key: plain(getattr(entry, key)) for key in keys}


def _without_certificates(entry: dict[str, Any]) -> dict[str, Any]:
    """`tailproof theorem ID --json` has them; all of them would fill the report."""
    return {key: value for key, value in entry.items() if key != "certificates"}


def run_all(work: list[Task], seed: int, effort: Effort, *, jobs: int, progress: bool) -> list[tuple[Task, Any, float]]:
    """Every task's result, in the order of `work`, whatever the number of workers."""
    outcomes = Parallel(n_jobs=jobs, return_as="generator")(delayed(perform)(task, seed, effort) for task in work)
    shown = tqdm(outcomes, total=len(work), unit="task", disable=not progress)
    return [(task, result, seconds) for task, (result, seconds) in zip(work, shown, strict=True)]


def build_report(
    *, only: list[str] | None, seed: int, effort: Effort, preset: str, jobs: int, progress: bool
) -> tuple[dict[str, Any], dict[str, float]]:
    """(report, seconds per task).  The report holds nothing that depends on time or on the number of workers."""
    outcomes = run_all(tasks(only, effort), seed, effort, jobs=jobs, progress=progress)
    outcomes.sort(key=lambda outcome: (outcome[0].kind, outcome[0].name, outcome[0].detail))
    findings: list[Finding] = [f for task, result, _ in outcomes if task.kind == "algorithm" for f in result]
    judged: list[MutantResult] = [result for task, result, _ in outcomes if task.kind == "mutant"]
    checked = [statement_json(result) for task, result, _ in outcomes if task.kind == "statement"]
    papers: dict[str, list[dict[str, Any]]] = {name: [] for name in paper_check.TASKS}
    for task, result, _ in outcomes:
        if task.kind == "paper":
            papers[task.detail] += result
    found = [entry for task, result, _ in outcomes if task.kind == "errata" for entry in result]
    swept = [result for task, result, _ in outcomes if task.kind == "sweep"]
    between = [result for task, result, _ in outcomes if task.kind == "sandwich"]
    studied = next((result for task, result, _ in outcomes if task.kind == "study"), None)
    chosen = {entry.id for entry in implemented(only)}
    report: dict[str, Any] = {
        "preset": preset,
        "seed": seed,
        "only": only,
        "versions": {name: metadata.version(name) for name in PACKAGES} | {"python": platform.python_version()},
        "algorithms": [algorithm_json(entry) for entry in implemented(only)],
        "findings": [finding.to_json() for finding in findings],
        "mutants": [plain(asdict(result)) for result in judged],
        "inapplicable": [asdict(m) for m in mutants.INAPPLICABLE if m.algorithm in chosen],
        "second_stage": studied,
        "sweeps": plain(swept),
        "sandwich": between,
        "statements": checked,
        "agreements": papers["statements"],
        "comparisons": papers["comparisons"],
        "derivations": papers["derivations"],
        "choices": papers["choices"],
        "errata": found,
    }
    report["published_claims"] = plain(published_claims.published_claims(report["findings"], checked, only))
    report["failures"] = _failures(findings, judged, checked, found)
    report["failures"] += published_claims.failures(report["published_claims"])
    report["failures"] += paper_check.failures(papers)
    report["failures"] += second_stage.failures(studied) if studied else []
    report["failures"] += sweep_runs.failures(swept)
    report["failures"] += sandwich.failures(between)
    report["summary"] = _summary(report)
    seconds = {" ".join(filter(None, (task.kind, task.name, task.detail))): spent for task, _, spent in outcomes}
    return report, seconds


def statement_json(result: statements.StatementCheck) -> dict[str, Any]:
    """A printed statement known to fail is an expected finding; a corrected reading that fails is not."""
    place, function = next(((s.place, s.function) for s in EXPLICIT if s.id == result.id), ("", None))
    return {
        "id": result.id,
        "place": place,
        "reading": result.reading,
        "status": "consistent" if result.holds else "violated",
        "expected": not result.holds and result.reading == "printed" and result.id in statements.KNOWN_FALSE,
        "measured": plain(result.worst_ratio),
        "cases": result.cases,
        "detail": f"{result.reading}: {result.detail}",
        "witness": plain(result.witness),
        "theorems": [t.id for t in theorems() if function is not None and t.explicit is function],
    }


def _failures(
    findings: list[Finding],
    judged: list[MutantResult],
    checked: list[dict[str, Any]],
    found: list[dict[str, Any]],
) -> list[str]:
    """What makes the run fail: one line each."""
    lines = [f"{f.algorithm}: {f.check} violated: {f.detail}" for f in findings if f.unexpected_violation]
    lines += [f"{m.algorithm}: mutant {m.name!r} ({m.kind}) survived" for m in judged if not m.killed]
    lines += [f"{s['id']}: {s['detail']} violated" for s in checked if s["status"] == "violated" and not s["expected"]]
    lines += [f"{e['id']}: the erratum's evidence no longer stands" for e in found if not e["stands"]]
    return lines


def _summary(report: dict[str, Any]) -> str:
    findings, judged = report["findings"], report["mutants"]
    counts = {
        status: sum(f["status"] == status for f in findings)
        for status in ("violated", "consistent", "certified", "inconclusive")
    }
    killed = sum(bool(m["killed_by"]) for m in judged)
    refuted = sum(f["expected"] for f in findings)
    expected = sum(s["expected"] for s in report["statements"])
    parts = [
        f"{len({f['algorithm'] for f in findings})} algorithms, {len(findings)} findings: "
        + ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        + (f" ({refuted} of them expected: published claims that are refuted)" if refuted else ""),
        f"mutants killed: {killed} of {len(judged)} applicable",
    ]
    if report["published_claims"]:
        parts.append(published_claims.summary(report["published_claims"]))
    if report["statements"]:
        parts.append(
            f"explicit statements checked: {len(report['statements'])}, of which {expected} known to fail as printed"
        )
        false = sum(not c["holds"] for c in report["comparisons"])
        parts.append(f"comparisons of rates decided: {len(report['comparisons'])}, of which {false} do not hold as printed")
        if report["agreements"]:
            differ = sum(not a["verdict"].startswith("same") for a in report["agreements"])
            parts.append(f"printed rates checked against derivations: {len(report['agreements'])}, of which {differ} differ")
            best = sum(c["attained"] for c in report["choices"])
            parts.append(
                f"derivations: {len(report['derivations'])}; choices of parameters: {len(report['choices'])}, {best} of them best"
            )
        grows = sum(r["verdict"] in ("grows", "saturated") for r in report["sweeps"])
        parts.append(f"sweeps: {len(report['sweeps'])}, of which {grows} grow or say nothing, each with its reason")
        if report["sandwich"]:
            parts.append(f"pairs between lower and upper bounds: {len(report['sandwich'])}")
        parts.append(f"errata re-checked: {len(report['errata'])}")
    parts.append("nothing unexpected" if not report["failures"] else f"{len(report['failures'])} FAILURES")
    return "; ".join(parts)


def overview(report: dict[str, Any]) -> str:
    """The readable table: one line per algorithm and check, then mutants, then what failed."""
    rows = []
    worst: dict[tuple[str, str], dict[str, Any]] = {}
    for f in report["findings"]:
        key = (f["algorithm"], f["check"])
        if key not in worst or _ratio(f) > _ratio(worst[key]):
            worst[key] = f
    for f in worst.values():
        status = f["status"] + (" (expected)" if f["expected"] else "")
        rows.append([f["algorithm"], f["check"], status, _shown(f["measured"]), _shown(f["bound"]), f["detail"][:70]])
    lines = [table(rows, ["algorithm", "check", "status", "measured", "bound", "what (worst setting)"]), ""]
    by_algorithm: dict[str, list[dict[str, Any]]] = {}
    for m in report["mutants"]:
        by_algorithm.setdefault(m["algorithm"], []).append(m)
    mutant_rows = [
        [
            name,
            f"{sum(bool(m['killed_by']) for m in group)} of {len(group)}",
            ", ".join(sorted({k for m in group for k in m["killed_by"]})),
        ]
        for name, group in by_algorithm.items()
    ]
    lines += [table(mutant_rows, ["algorithm", "mutants killed", "by"]), ""]
    if report["published_claims"]:
        lines += [published_claims.overview(report["published_claims"]), ""]
    lines += [f"FAILED  {line}" for line in report["failures"]]
    return "\n".join([*lines, report["summary"]])


def _ratio(finding: dict[str, Any]) -> float:
    measured, bound = finding["measured"], finding["bound"]
    if finding["status"] == "violated":
        return float("inf")
    return float(measured) / float(bound) if measured is not None and bound else -1.0


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else number(value)


def write(report: dict[str, Any], seconds: dict[str, float], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(report, indent=1, sort_keys=True, allow_nan=False) + "\n")
    (folder / "report.html").write_text(page.page(report), encoding="utf-8")
    (folder / "timings.json").write_text(json.dumps(seconds, indent=1, sort_keys=True) + "\n")
    witnesses = folder / "witnesses"
    witnesses.mkdir(exist_ok=True)
    for name, witness in replay.witness_files(report).items():
        (witnesses / name).write_text(json.dumps(witness, allow_nan=False) + "\n")
