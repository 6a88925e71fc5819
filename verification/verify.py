"""`tailproof verify`: run every task, gather the report.  Results depend on the seed only, not on order or workers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

from tailproof.bounds.citations import citations
from tailproof.bounds.errata import errata
from tailproof.bounds.explicit import EXPLICIT
from tailproof.bounds.theorems import theorems
from tailproof.refimpl.catalogue import Algorithm, algorithm
from tailproof.verification import (
    files,
    libraries,
    matrix,
    mutants,
    page,
    paper_check,
    provenance,
    published_claims,
    sandwich,
    second_stage,
    statements,
    sweep_runs,
)
from tailproof.verification.check import FULL, QUICK, Effort, implemented, judge_mutant, part_findings, parts_of
from tailproof.verification.page import replay
from tailproof.verification.report import PASSING, number, plain
from tailproof.verification.sandwich_pairs import PAIRS
from tailproof.verification.shown import Shown, Table
from tailproof.verification.workers import Done, Task, Workers, one_thread, run_tasks, versions

Json: TypeAlias = dict[str, Any]

SANDWICH_RUNS = 200
READINGS = {"printed": "as published", "corrected": "corrected"}
KINDS = ("algorithm", "mutant", "paper", "statement", "sweep", "sandwich", "study", "errata")


@dataclass(frozen=True)
class Work:
    """Tasks of one kind about one thing: `detail` says which part."""

    kind: str
    name: str
    detail: str
    tasks: tuple[Task, ...]


def work(only: list[str] | None, seed: int, effort: Effort) -> list[Work]:
    """In the order of the report.  Statements, sweeps and errata belong to papers, so a filter leaves them out."""
    full = effort == FULL
    chosen = implemented(only)
    found = [_one("algorithm", entry.id, part, _part, seed, effort) for entry in chosen for part in parts_of(entry)]
    ids = {entry.id for entry in chosen}
    found += [_one("mutant", m.algorithm, m.name, _mutant, seed, effort) for m in mutants.MUTANTS if m.algorithm in ids]
    if only:
        return found
    about = list(paper_check.TASKS) if full else ["comparisons"]
    found += [_one("paper", paper, name, _paper, seed, effort) for name in about for paper in paper_check.PAPERS]
    found += [_one("statement", trial.id, trial.reading, _statement, seed, effort) for trial in statements.TRIALS]
    for name, over in sweep_runs.names(full=full):
        cost = _expected("sweep", name, over, full=full)
        found.append(Work("sweep", name, over, tuple(sweep_runs.parts_of(name, over, seed, full=full, cost=cost))))
    if full:
        for pair in PAIRS:
            task = sandwich.task(pair, runs=SANDWICH_RUNS, seed=seed, cost=_expected("sandwich", pair.name, full=True))
            found.append(Work("sandwich", pair.name, "", (task,)))
    found.append(_one("study", "second stage", "", _study, seed, effort))
    found.append(_one("errata", "errata", "", _errata, seed, effort))
    return found


def _one(kind: str, name: str, detail: str, function: Callable[..., Any], seed: int, effort: Effort) -> Work:
    full = effort == FULL
    label = " ".join(filter(None, (kind, name, detail)))
    return Work(
        kind, name, detail, (Task(label, function, (name, detail, seed, effort), _expected(kind, name, detail, full=full)),)
    )


def _part(name: str, detail: str, seed: int, effort: Effort) -> list[Json]:
    return [finding.to_json() for finding in part_findings(algorithm(name), detail, seed, effort)]


def _mutant(name: str, detail: str, seed: int, effort: Effort) -> Json:
    found: Json = plain(asdict(judge_mutant(mutants.mutant(name, detail), seed, effort)))
    return found


def _statement(name: str, detail: str, _: int, __: Effort) -> Json:
    return statement_json(statements.run(next(t for t in statements.TRIALS if (t.id, t.reading) == (name, detail))))


def _study(_: str, __: str, seed: int, effort: Effort) -> Json:
    return second_stage.study(seed, runs=effort.runs // 5 if effort == QUICK else effort.runs // 10)


def _paper(name: str, detail: str, _: int, __: Effort) -> list[Json]:
    result = paper_check.TASKS[detail](name)
    return result if detail == "comparisons" else [_without_certificates(entry) for entry in result]


def _errata(_: str, __: str, ___: int, ____: Effort) -> list[Json]:
    return _checked_errata(None)


def _checked_errata(names: set[str] | None) -> list[Json]:
    """All of them, or those of these ids."""
    chosen = [entry for entry in errata() if names is None or entry.id in names]
    return [{**erratum_json(entry), "stands": entry.recheck()} for entry in chosen]


# --- what tasks cost: only their order and the remaining time that is shown depend on it


@cache
def _costs() -> dict[str, dict[str, float]]:
    """Seconds of earlier runs, by preset; `benchmarks/workers.py` writes them."""
    text = resources.files("tailproof.verification").joinpath("expected_seconds.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, float]] = json.loads(text)
    return found


def _expected(kind: str, name: str, detail: str = "", *, full: bool) -> float:
    known = _costs()["full" if full else "quick"]
    return known.get(" ".join(filter(None, (kind, name, detail))), 1.0)


def algorithm_json(entry: Algorithm) -> dict[str, str]:
    return {key: getattr(entry, key) for key in ("id", "name", "paper", "place", "claim")}


def erratum_json(entry: Any) -> Json:
    keys = ("id", "paper", "place", "kind", "printed", "found", "evidence", "reconstructed", "title", "story")
    return {key: plain(getattr(entry, key)) for key in keys}


def _without_certificates(entry: Json) -> Json:
    """`tailproof theorem ID --json` has them; all of them would fill the report."""
    return {key: value for key, value in entry.items() if key != "certificates"}


def verify(*, only: list[str] | None = None, seed: int = 0, full: bool = False, jobs: int = 1) -> Json:
    """What `tailproof verify` reports, as it stands in report.json."""
    effort, preset = (FULL, "full") if full else (QUICK, "quick")
    report, _ = build_report(only=only, seed=seed, effort=effort, preset=preset, workers=Workers(jobs=jobs))
    return report


def build_report(
    *, only: list[str] | None, seed: int, effort: Effort, preset: str, workers: Workers | None = None
) -> tuple[Json, dict[str, float]]:
    """(report, seconds per piece of work).  The report holds nothing that depends on time or on the workers."""
    pieces = work(only, seed, effort)
    about = {"command": "verify", "preset": preset, "seed": seed, "only": only}
    done = iter(run_tasks([task for piece in pieces for task in piece.tasks], workers or Workers(), about))
    outcomes = [(piece, [next(done) for _ in piece.tasks]) for piece in pieces]
    with one_thread():
        report = _report({kind: _of_kind(outcomes, kind) for kind in KINDS}, only=only, seed=seed, effort=effort)
    seconds = {_label(piece): sum(one.seconds for one in parts) for piece, parts in outcomes}
    return {"preset": preset, **report}, seconds


def _label(piece: Work) -> str:
    return " ".join(filter(None, (piece.kind, piece.name, piece.detail)))


def _of_kind(outcomes: list[tuple[Work, list[Done]]], kind: str) -> list[tuple[Work, Any]]:
    """By name; what is about the same thing stays in order."""
    chosen = [(piece, [one.result for one in parts]) for piece, parts in outcomes if piece.kind == kind]
    return sorted(
        ((piece, parts if kind == "sweep" else parts[0]) for piece, parts in chosen), key=lambda outcome: outcome[0].name
    )


def _report(found: dict[str, list[tuple[Work, Any]]], *, only: list[str] | None, seed: int, effort: Effort) -> Json:
    findings: list[Json] = [finding for _, result in found["algorithm"] for finding in result]
    judged: list[Json] = [result for _, result in found["mutant"]]
    checked: list[Json] = [result for _, result in found["statement"]]
    papers: dict[str, list[Json]] = {name: [] for name in paper_check.TASKS}
    for piece, result in found["paper"]:
        papers[piece.detail] += result
    corrected: list[Json] = [entry for _, result in found["errata"] for entry in result]
    swept = [
        sweep_runs.gathered_of(piece.name, piece.detail, result, seed, full=effort == FULL)
        for piece, result in found["sweep"]
    ]
    between: list[Json] = [result for _, result in found["sandwich"]]
    studied = next((result for _, result in found["study"]), None)
    chosen = {entry.id for entry in implemented(only)}
    report: Json = {
        "seed": seed,
        "only": only,
        "versions": versions(),
        "papers": [paper.to_json() for paper in citations()],
        "algorithms": [algorithm_json(entry) for entry in implemented(only)],
        "findings": findings,
        "matrix": matrix.matrix(findings, implemented(only)),
        "mutants": judged,
        "inapplicable": [asdict(m) for m in mutants.INAPPLICABLE if m.algorithm in chosen],
        "second_stage": studied,
        "sweeps": plain(swept),
        "sandwich": between,
        "statements": checked,
        "agreements": papers["statements"],
        "comparisons": papers["comparisons"],
        "derivations": papers["derivations"],
        "choices": papers["choices"],
        "errata": corrected,
        "libraries": None if only else libraries.kept(),
    }
    report["published_claims"] = plain(published_claims.published_claims(findings, checked, only))
    if only:  # those that the page needs to tell what fails
        corrected += _checked_errata({name for claim in report["published_claims"] for name in claim["errata"]})
    report["undecided"] = _lines(f for f in findings if f["status"] in ("inconclusive", "skipped") and not f["expected"])
    report["failures"] = _failures(findings, judged, checked, corrected)
    report["failures"] += matrix.failures(report["matrix"], findings)
    report["failures"] += published_claims.failures(report["published_claims"])
    report["failures"] += paper_check.failures(papers)
    report["failures"] += second_stage.failures(studied) if studied else []
    report["failures"] += sweep_runs.failures(swept)
    report["failures"] += sandwich.failures(between)
    report["summary"] = _summary(report)
    return report


def statement_json(result: statements.StatementCheck) -> Json:
    """A printed statement known to fail is an expected finding; a corrected reading that fails is not."""
    place, function = next(((s.place, s.function) for s in EXPLICIT if s.id == result.id), ("", None))
    stated = [t for t in theorems() if function is not None and t.explicit is function]
    return {
        "id": result.id,
        "place": place,
        "reading": result.reading,
        "status": "consistent" if result.holds else "violated",
        "expected": not result.holds and result.reading == "printed" and result.id in statements.KNOWN_FALSE,
        "measured": plain(result.worst_ratio),
        "cases": result.cases,
        "detail": f"{READINGS[result.reading]}: {result.detail}",
        "witness": plain(result.witness),
        "worst": plain(result.worst),
        "theorems": [t.id for t in stated],
        "reconstructed": any(t.reconstructed for t in stated),
    }


def _failures(findings: list[Json], judged: list[Json], checked: list[Json], corrected: list[Json]) -> list[str]:
    """What makes the run fail: one line each."""
    lines = _lines(f for f in findings if f["status"] not in PASSING and not f["expected"])
    lines += [f"{m['algorithm']}: mutant {m['name']!r} ({m['kind']}) survived" for m in judged if not m["killed_by"]]
    lines += [f"{s['id']}: {s['detail']} violated" for s in checked if s["status"] == "violated" and not s["expected"]]
    lines += [f"{e['id']}: the erratum's evidence no longer stands" for e in corrected if not e["stands"]]
    return lines


def _lines(wrong: Iterable[Json]) -> list[str]:
    return [f"{f['algorithm']}: {f['check']} {f['status']}: {f['detail']}" for f in wrong]


def exit_code(report: Json) -> int:
    """0 when everything is as expected, 3 when all that is not is undecided, 1 otherwise."""
    if not report["failures"]:
        return 0
    return 3 if set(report["failures"]) <= set(report["undecided"]) else 1


def _summary(report: Json) -> str:
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
            f"explicit statements checked: {len(report['statements'])}, of which {expected} known to fail as published"
        )
        false = sum(not c["holds"] for c in report["comparisons"])
        parts.append(
            f"comparisons of rates decided: {len(report['comparisons'])}, of which {false} do not hold as published"
        )
        if report["agreements"]:
            differ = sum(not a["verdict"].startswith("same") for a in report["agreements"])
            parts.append(
                f"published rates checked against derivations: {len(report['agreements'])}, of which {differ} differ"
            )
            best = sum(c["attained"] for c in report["choices"])
            parts.append(
                f"derivations: {len(report['derivations'])}; choices of parameters: {len(report['choices'])}, {best} of them best"
            )
        grows = sum(r["verdict"] in ("grows", "saturated") for r in report["sweeps"])
        parts.append(f"sweeps: {len(report['sweeps'])}, of which {grows} grow or say nothing, each with its reason")
        if report["sandwich"]:
            parts.append(f"pairs between lower and upper bounds: {len(report['sandwich'])}")
        parts.append(f"errata re-checked: {len(report['errata'])}")
    if report["libraries"]:
        parts.append(libraries.summary(report["libraries"]))
    parts.append("nothing unexpected" if not report["failures"] else f"{len(report['failures'])} FAILURES")
    return "; ".join(parts)


def overview(report: Json) -> Shown:
    """All that was found: a line per algorithm and check, those that do not apply as well, then broken copies, published claims
    and the other parts.
    """
    worst: dict[tuple[str, str], Json] = {}
    order = [row["algorithm"] for row in report["matrix"]["rows"]]
    for f in report["findings"]:
        key = (f["algorithm"], f["check"])
        if key not in worst or _ratio(f) > _ratio(worst[key]):
            worst[key] = f
    rows = [
        [
            *(f[key] for key in ("algorithm", "check")),
            f["status"] + (" (expected)" if f["expected"] else ""),
            _shown(f["measured"]),
            _shown(f["bound"]),
            f["detail"],
        ]
        for f in worst.values()
    ]
    rows += [
        [row["algorithm"], cell["check"], cell["status"], "–", "–", cell["says"]]
        for row in report["matrix"]["rows"]
        for cell in row["cells"]
        if cell["status"] in (matrix.ABSENT, matrix.MISSING)
    ]
    rows.sort(key=lambda row: order.index(row[0]))
    parts: list[Shown] = [Table(rows, ["algorithm", "check", "status", "measured", "bound", "what (worst setting)"]), ""]
    by_algorithm: dict[str, list[Json]] = {}
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
    parts += [Table(mutant_rows, ["algorithm", "broken copies caught", "by"]), ""]
    if report["published_claims"]:
        parts += [published_claims.overview(report["published_claims"]), ""]
    return [*parts, _parts(report)]


def _parts(report: Json) -> Table:
    """What was run, and how it came out, a line for each part."""

    def counted(words: Iterable[Any]) -> str:
        return ", ".join(f"{count} {word}" for word, count in sorted(Counter(map(str, words)).items()))

    sweeps = report["sweeps"]
    outputs = [f for f in report["findings"] if f["check"] == "final iterate"]
    exponents, explicit = ([r[key] for r in sweeps if r.get(key)] for key in ("exponent", "explicit"))
    decided = ["hold" if c["holds"] else "do not" for c in report["comparisons"]]
    _, others = libraries.split(report["libraries"]["results"] if report["libraries"] else [])
    chosen = ["best" if c["attained"] else "not best" for c in report["choices"]]
    rows = [
        ("checks of algorithms", report["findings"], counted(f["status"] for f in report["findings"])),
        ("audits of outputs", outputs, counted(f["status"] for f in outputs)),
        ("broken copies", report["mutants"], counted("killed" if m["killed_by"] else "alive" for m in report["mutants"])),
        ("published claims", report["published_claims"], counted(c["verdict"] for c in report["published_claims"])),
        ("explicit statements", report["statements"], counted(s["status"] for s in report["statements"])),
        ("published rates", report["agreements"], counted(a["verdict"] for a in report["agreements"])),
        ("comparisons of rates", decided, counted(decided)),
        ("derivations", report["derivations"], counted(d["verdict"] for d in report["derivations"])),
        ("choices of parameters", chosen, counted(chosen)),
        ("sweeps", sweeps, counted(r["verdict"] for r in sweeps)),
        ("exponents in sweeps", exponents, counted(exponents)),
        ("bounds with constants in sweeps", explicit, counted(explicit)),
        ("between lower and upper bounds", report["sandwich"], counted(r["verdict"] for r in report["sandwich"])),
        ("errata", report["errata"], counted("stand" if e["stands"] else "do not" for e in report["errata"])),
        ("settings of other libraries (audited earlier)", others, counted(row["verdict"] for row in others)),
    ]
    return Table([[what, str(len(found)), text] for what, found, text in rows if found], ["part", "number", "of which"])


def _ratio(finding: Json) -> float:
    measured, bound = finding["measured"], finding["bound"]
    if finding["status"] == "violated":
        return float("inf")
    return float(measured) / float(bound) if measured is not None and bound else -1.0


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else number(value)


def write(report: Json, seconds: dict[str, float], folder: Path) -> None:
    """Each file is replaced as a whole; report.json, which all else can be made from, comes first."""
    witnesses = folder / "witnesses"
    files.make_folder("report", witnesses)
    files.write("report", folder / "report.json", json.dumps(report, indent=1, sort_keys=True, allow_nan=False) + "\n")
    run = provenance.facts()
    files.write("report", folder / "run.json", json.dumps(run, indent=1, sort_keys=True) + "\n")
    files.write("report", folder / "report.html", page.page(report, run))
    files.write("report", folder / "timings.json", json.dumps(seconds, indent=1, sort_keys=True) + "\n")
    for name, witness in replay.witness_files(report).items():
        files.write("report", witnesses / name, json.dumps(witness, allow_nan=False) + "\n")
