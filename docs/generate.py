"""Pages of the site that are made from the project itself: a hook of mkdocs, see mkdocs.yml.

The command line from its parser, the catalogue, the statements and errata from their values, the Python reference from docstrings.
Nothing is computed that takes long: the atlas, which takes a minute or two, is a page of its own that `docs/build.py --atlas` adds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from tailproof.bounds.errata import errata
from tailproof.bounds.statements import Statement
from tailproof.bounds.theorems import comparisons, theorems
from tailproof.refimpl.catalogue import ALGORITHMS, Algorithm
from tailproof.verification.atlas import mathml, prose
from tailproof.verification.cli import parser
from tailproof.verification.html import grid, text
from tailproof.verification.report import plain

ROOT = Path(__file__).resolve().parent.parent
PAPERS = ("P0", "P1", "P2", "P3", "P4")
PACKAGES = {
    "tailproof.refimpl": "The algorithms, and what they are made of.",
    "tailproof.bounds": "Statements as values, comparisons of rates, certificates.",
    "tailproof.verification": "The harness: checks, audits, reports.",
}
PUBLIC = {  # heading: package, names; together all that the packages export
    "Claims": ("tailproof.refimpl", "PureDP ApproxDP ZCDP GDP Claim REPLACE_ONE ADD_REMOVE UnsoundConversion UnprovedClaim"),
    "The channel": (
        "tailproof.refimpl",
        "Channel Release Transcript run replay ledger ReplayDiverged Bound L1 L2 LInf Smooth",
    ),
    "Laws of noise": ("tailproof.refimpl", "Gaussian Laplace L2Laplace LLN Finite NoisyArgmax"),
    "Losses": ("tailproof.refimpl", "Absolute Affine Hinge L4 Logistic Quadratic RecordQuadratic ReLU Ridge Squared"),
    "Domains": ("tailproof.refimpl", "Ball Box Ellipsoid L1Ball Polytope Localised"),
    "Input": ("tailproof.refimpl", "InputError"),
    "Pure privacy": (
        "tailproof.refimpl.pure_dp",
        "single_output_perturbation objective_perturbation population_localization double_output_perturbation "
        "structured_output_perturbation exponential_mechanism Assumption Plan Phase expectation_plan expectation_bound "
        "high_probability_plan ObjectivePlan objective_plan objective_bound",
    ),
    "Statements and rates": (
        "tailproof.bounds",
        "compare Dominance Separation Undecided theorems theorem comparisons errata",
    ),
    "Audits and checks": (
        "tailproof.verification",
        "assert_private ClaimRefuted audit AuditResult Admissible replay_audit check_mechanism search_sensitivity Attained "
        "Finding PAIR_CHECKS Measurement Subject subject_of worst_pairs",
    ),
    "Strategies of hypothesis": ("tailproof.verification.strategies", ""),
}
DATA_ONLY = ("tailproof.bounds.papers.",)  # modules of values: their text is shown, not the values
INCLUDED = {"how-to/contributing.md": "CONTRIBUTING.md", "reference/changes.md": "CHANGELOG.md"}
AUDITS = ROOT / "examples" / "audits"
WIDE = "---\nhide: [toc]\n---\n\n"  # for tables: the page's contents make room


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The modules' pages below the public names."""
    section = next(item["Python"] for item in config.nav or [] if "Python" in item)
    section += [{name: f"reference/python/{name}.md"} for name in modules_of_packages()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    pages = {
        "reference/command-line.md": command_line(),
        "reference/catalogue.md": catalogue(),
        "reference/atlas.md": statements(with_atlas="atlas" in config.extra),
        "reference/errata.md": list_of_errata(),
        "reference/python.md": public_names(),
        **{f"reference/python/{name}.md": module_page(name, modules) for name, modules in modules_of_packages().items()},
    }
    pages |= {target: (ROOT / source).read_text(encoding="utf-8") for target, source in INCLUDED.items()}
    pages |= audits_of_libraries() | {"reference/zoo.md": zoo(), "reference/auditors.md": auditors()}
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    if "atlas" in config.extra:
        files.append(File.generated(config, "reference/atlas-of-rates.html", abs_src_path=str(config.extra["atlas"])))
    return files


def audits_of_libraries() -> dict[str, str]:
    """The table of verdicts, and a page for each script that it links to."""
    table = (AUDITS / "README.md").read_text(encoding="utf-8")
    scripts = sorted(set(re.findall(r"\]\((\w+)\.py\)", table)))
    pages = {"how-to/audits.md": WIDE + re.sub(r"\]\((\w+)\.py\)", r"](audits/\1.md)", table)}
    for name in scripts:
        code = (AUDITS / f"{name}.py").read_text(encoding="utf-8")
        pages[f"how-to/audits/{name}.md"] = f"# {name}.py\n\n[All audits](../audits.md)\n\n```python\n{code}```\n"
    return pages


# --- kept studies -----------------------------------------------------------------------------------------------------------

ZOO_HEAD = """\
# A zoo of known bugs

Mechanisms whose exact privacy is known by computation, correct and broken, written from papers and bug reports: the benchmark of
any auditor. [`tailproof.verification.auditing.zoo`][] and [`tailproof.verification.auditing.zoo_reports`][] have them,
[`tailproof.verification.auditing.zoo_truth`][] what is true of them.
Each is audited on a pair of its own with confidence {confidence}, with
2·10⁴, 2·10⁵ and 2·10⁶ runs until it is flagged. This is what `python benchmarks/zoo.py --table` prints.

{flagged} of {broken} broken mechanisms are flagged, {false} of {correct} correct ones.
"""

AUDITORS_HEAD = """\
# Auditors, audited

How often lower bounds of privacy parameters exceed the truth, on mechanisms whose privacy is known exactly, identical laws
included. Every estimator gets 1000 outputs of either side and states a bound at 95 % confidence, which may be above the truth in
one run of twenty; `too often` stands where the rate's lower limit (99 %) is above that. This is what
`python benchmarks/auditors.py --table` prints; [`check_auditor`][tailproof.verification.auditing.auditors.check_auditor] does it
for an estimator of yours.
"""


def benchmark(name: str) -> Any:
    """A script of the folder benchmarks, as a module."""
    with patch.object(sys, "path", [str(ROOT / "benchmarks"), *sys.path]):
        return import_module(name)


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines) + "\n"


def zoo() -> str:
    study = benchmark("zoo")
    rows = list(json.loads((ROOT / "benchmarks" / "zoo.json").read_text(encoding="utf-8")).values())
    flagged, counts = ([row["verdict"] == "violated" for row in rows if row["holds"] == holds] for holds in (False, True))
    head = ZOO_HEAD.format(
        confidence=study.CONFIDENCE, flagged=sum(flagged), broken=len(flagged), false=sum(counts), correct=len(counts)
    )
    table = [[f"{row['name']}<br><small>{row['about']}</small>", *study.line(row)[1:]] for row in rows]
    return WIDE + head + "\n" + markdown(["mechanism", "", "claim", "true", "lower bound", "runs", "verdict"], table)


def auditors() -> str:
    study = benchmark("auditors")
    lines = study.kept(ROOT / "benchmarks" / "auditors.jsonl")
    return (
        f"{WIDE}{AUDITORS_HEAD}\n{markdown(study.HEADER, study.rows_of(lines, 1000))}\nVersions: {study.versions(lines)}.\n"
    )


# --- the command line -------------------------------------------------------------------------------------------------------

COMMANDS_HEAD = """\
# Command line

Every command takes `--json FILE` (`-`: standard output) beside its readable text. Exit codes: 0, what you asked about holds; 1, it
does not; 2, wrong input (one line on standard error); 3, undecided; 4, the audited subject or tailproof itself failed; 130,
interrupted. `python -m tailproof.verification.cli` is the same as `tailproof`. The texts below are those of `--help`.
"""


def command_line() -> str:
    with patch.dict(os.environ, {"COLUMNS": "86", "NO_COLOR": "1"}):  # argparse asks the terminal for both
        texts = {name: sub.format_help() for name, sub in subcommands().items()}
    sections = [f"## tailproof {name}\n\n```text\n{words}```\n" for name, words in texts.items()]
    return "\n".join([COMMANDS_HEAD, *sections])


def subcommands() -> dict[str, argparse.ArgumentParser]:
    choices = [action.choices for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(choices[0])


# --- tables -----------------------------------------------------------------------------------------------------------------

CATALOGUE_HEAD = """\
# Catalogue

Every algorithm of the five papers, and ours; `tailproof list` prints the same. P0 to P3 have (ε, δ) and zCDP claims, P4 pure ones.
`tailproof verify --only ID` checks one of them. Published claims are as printed; the [errata](errata.md) say which are refuted.
"""


def catalogue() -> str:
    rows = [[entry.id, entry.name, entry.place, entry.claim, _code(entry)] for entry in ALGORITHMS]
    lines = ["| id | name | place | published claim | code |", "|---|---|---|---|---|"]
    return WIDE + "\n".join([CATALOGUE_HEAD, *lines, *(f"| {' | '.join(row)} |" for row in rows), ""])


def _code(entry: Algorithm) -> str:
    """A reference to the function's place in the Python pages: the build fails if there is none."""
    if entry.implementation is not None:
        name = f"{entry.implementation.module.__name__}.{entry.implementation.function}"
    elif entry.function is not None:
        name = entry.function
    else:
        return "not built yet"
    return f"[`{name.rpartition('.')[2]}`][{name}]"


ATLAS_HEAD = """\
# Atlas of statements

The {count} statements of the five papers and ours, as values, and {compared} sentences that compare rates. *Printed* is what the
paper prints, *derived* what follows from its lemmas and parameter choices; constants are dropped, logarithms kept.
`tailproof theorem ID` shows one of them with its assumptions, derivation and certificates, `tailproof theorem --check` decides
all of them.

{atlas}
"""
WITH_ATLAS = "Who dominates whom, with certificates, crossovers and pictures: [the atlas of rates](atlas-of-rates.html)."
WITHOUT_ATLAS = (
    "Who dominates whom, with certificates, crossovers and pictures, is a page of its own, which takes a minute or two to compute: "
    "`tailproof theorem --atlas atlas.html`; `python docs/build.py --atlas` adds it to this site."
)


def statements(*, with_atlas: bool) -> str:
    head = ATLAS_HEAD.format(
        count=len(theorems()), compared=len(comparisons()), atlas=WITH_ATLAS if with_atlas else WITHOUT_ATLAS
    )
    sections = []
    for paper in PAPERS:
        rows = [
            [
                f'<a id="{s.id}"></a><code>{text(s.id)}</code><br>{text(s.label)}',
                text(s.kind if s.source == "printed" else f"{s.kind}, {s.source}"),
                prose(s.says),
                _rates(s),
            ]
            for s in theorems()
            if s.paper == paper
        ]
        sections.append(f"## {paper}\n\n{grid(['id', 'kind', 'says', 'printed, derived'], rows)}\n")
    return WIDE + "\n".join([head, *sections])


def _rates(statement: Statement) -> str:
    """As printed, and below it as derived."""
    shown = [] if statement.printed is None else [mathml(statement.printed)]
    if statement.derived is not None:
        shown.append(
            "derived: as printed" if statement.derived == statement.printed else f"derived: {mathml(statement.derived)}"
        )
    return "<br>".join(shown) or "–"


ERRATA_HEAD = """\
# Errata

The {count} places where print and computation differ; `tailproof errata` prints the same, `tailproof verify` computes every
discrepancy anew. The kind says what is wrong: `privacy`, a privacy claim fails; `rate`, a rate; `constant`, a constant; `typo`, a
display or a step of a proof whose conclusion stands. The evidence is what is measured and what the print allows for it. The texts
at hand were extracted by machine: where one lost symbol would explain the difference, the entry says so.
"""


def list_of_errata() -> str:
    return "\n".join([ERRATA_HEAD.format(count=len(errata())), *_errata_sections()])


def _errata_sections() -> Iterator[str]:
    for paper in PAPERS:
        yield f"## {paper}\n"
        for entry in (e for e in errata() if e.paper == paper):
            evidence = ", ".join(f"{name} = {_short(value)}" for name, value in entry.evidence.items())
            yield f"### {entry.id} {{ #{entry.id} }}\n"
            yield (
                f'<dl class="erratum"><dt>{text(entry.kind)}</dt><dd>{prose(entry.place)}</dd><dt>printed</dt>'
                f"<dd>{prose(entry.printed)}</dd><dt>found</dt><dd>{prose(entry.found)}</dd>"
                f"<dt>evidence</dt><dd><code>{text(evidence)}</code></dd></dl>\n"
            )


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else json.dumps(plain(value), ensure_ascii=False, default=str)


# --- Python -----------------------------------------------------------------------------------------------------------------


PUBLIC_HEAD = """\
# Public names

These names stay: they change with a major version only. Everything else is documented module by module on the pages that follow,
and may change. Type hints are complete (`py.typed`); parameters are keyword-only words. Wrong input raises `InputError`, which
names the argument, its value and what is allowed, before any record is looked at.
"""


def public_names() -> str:
    grouped = {f"{package}.{name}" for package, names in PUBLIC.values() for name in names.split()}
    for package in {package for package, names in PUBLIC.values() if names}:
        missing = {f"{package}.{name}" for name in import_module(package).__all__} - grouped
        if missing:
            raise ValueError(f"PUBLIC: has no place for {', '.join(sorted(missing))}")
    body = [PUBLIC_HEAD]
    for heading, (package, names) in PUBLIC.items():
        listed = [_public(package, name) for name in names.split()] or [f"::: {package}\n"]
        body += [f"## {heading}\n", *listed]
    return "\n".join(body)


def _public(package: str, name: str) -> str:
    if not (_folder(package) / f"{name}.py").exists():
        return f"::: {package}.{name}\n"
    options = {
        "heading": f"{package}.{name}",
        "toc_label": name,
        "skip_local_inventory": True,
    }  # beside a module of that name
    return f"::: {package}.{name}.{name}\n    options:\n{_yaml(options)}"


def _yaml(options: dict[str, Any]) -> str:
    return "".join(f"      {key}: {json.dumps(value)}\n" for key, value in options.items())


def _folder(package: str) -> Path:
    return ROOT.joinpath(*package.split(".")[1:])


def modules_of_packages() -> dict[str, list[str]]:
    """The modules of each package and subpackage, which are one page."""
    pages: dict[str, list[str]] = {}
    for package in PACKAGES:
        files = [("tailproof", *path.relative_to(ROOT).with_suffix("").parts) for path in _folder(package).rglob("*.py")]
        for parts in sorted(files, key=lambda parts: (parts[:-1], parts[-1])):  # a package before its subpackages
            if parts[-1] != "__init__":
                pages.setdefault(".".join(parts[:-1]), []).append(".".join(parts))
    return pages


def module_page(name: str, modules: list[str]) -> str:
    body = [f"# {name}\n", PACKAGES.get(name, "") + "\n"]
    for module in modules:
        options: dict[str, Any] = {"heading_level": 2}
        if module.startswith(DATA_ONLY):
            options["members"] = False
        body.append(f"::: {module}\n    options:\n{_yaml(options)}")
    return "\n".join(body)
