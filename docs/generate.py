"""Pages of the site that are made from the project itself: a hook of mkdocs, see mkdocs.yml.

The command line from its parser, the catalogue, the statements and errata from their values, the papers from their citations, the
pages of checks from `tailproof explain`, the Python reference from docstrings, pictures and notebooks from the scripts beside this
one.  Nothing is computed that takes long: the sample report takes seconds; the atlas, which takes a minute or two, is a page of its
own that `docs/build.py --atlas` adds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from tailproof.bounds.citations import citations
from tailproof.bounds.errata import errata
from tailproof.bounds.statements import Statement
from tailproof.bounds.theorems import comparisons, theorems
from tailproof.refimpl.catalogue import ALGORITHMS, Algorithm
from tailproof.verification import explanations
from tailproof.verification.atlas import mathml, prose
from tailproof.verification.cli import parser
from tailproof.verification.cli.common import EXIT_CODES
from tailproof.verification.cli.entry import GROUPS
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
        "Channel Release Transcript run replay ledger ReplayDiverged Bound L1 L2 LInf Smooth FREE",
    ),
    "Laws of noise": ("tailproof.refimpl", "Gaussian Laplace L2Laplace LLN Finite NoisyArgmax"),
    "Losses": ("tailproof.refimpl", "Absolute Affine Hinge L4 Logistic Quadratic RecordQuadratic ReLU Ridge Squared"),
    "Domains": ("tailproof.refimpl", "Ball Box Ellipsoid L1Ball Polytope Localised"),
    "Input": ("tailproof.refimpl", "InputError"),
    "Pure privacy": (
        "tailproof.refimpl.pure_dp",
        "single_output_perturbation objective_perturbation population_localization double_output_perturbation "
        "structured_output_perturbation exponential_mechanism Assumption Plan Phase expectation_plan expectation_bound "
        "high_probability_plan private_moment_bound ObjectivePlan objective_plan objective_bound",
    ),
    "Statements and rates": (
        "tailproof.bounds",
        "compare Dominance Separation Undecided theorems theorem comparisons errata",
    ),
    "Audits and checks": (
        "tailproof.verification",
        "assert_private ClaimRefuted audit AuditResult Admissible replay_audit check_mechanism search_sensitivity Attained "
        "Finding PAIR_CHECKS Measurement replay_check Subject subject_of worst_pairs",
    ),
    "Models": ("tailproof.verification.fitting", "PrivateRegressor PrivateClassifier Numeric Categorical Card"),
    "Strategies of hypothesis": ("tailproof.verification.strategies", ""),
}
DATA_ONLY = ("tailproof.bounds.papers.",)  # modules of values: their text is shown, not the values
INCLUDED = {
    "reference/contributing.md": "CONTRIBUTING.md",
    "reference/changes.md": "CHANGELOG.md",
    "reference/security.md": "SECURITY.md",
}
SAMPLE = ("P2.A2", "P3.A2")  # the algorithms of the sample report: one that stands, one with a refuted claim
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
        "findings/errata.md": list_of_errata(),
        "reference/papers.md": papers(),
        "reference/python.md": public_names(),
        **{f"reference/python/{name}.md": module_page(name, modules) for name, modules in modules_of_packages().items()},
    }
    pages |= {target: (ROOT / source).read_text(encoding="utf-8") for target, source in INCLUDED.items()}
    pages |= audits_of_libraries() | {"findings/zoo.md": zoo(), "findings/auditors.md": auditors()} | explained()
    pages |= {f"pictures/{name}.svg": picture for name, picture in beside("pictures").drawn().items()}
    pages |= {f"notebooks/{name}.ipynb": book for name, book in beside("notebooks").made().items()}
    pages["findings/sample/report.html"] = sample_report()
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    if "atlas" in config.extra:
        files.append(File.generated(config, "reference/atlas-of-rates.html", abs_src_path=str(config.extra["atlas"])))
    return files


def audits_of_libraries() -> dict[str, str]:
    """The table of verdicts, and a page for each script that it links to."""
    table = (AUDITS / "README.md").read_text(encoding="utf-8")
    scripts = sorted(set(re.findall(r"\]\((\w+)\.py\)", table)))
    pages = {"findings/libraries.md": WIDE + re.sub(r"\]\((\w+)\.py\)", r"](audits/\1.md)", table)}
    for name in scripts:
        code = (AUDITS / f"{name}.py").read_text(encoding="utf-8")
        pages[f"findings/audits/{name}.md"] = f"# {name}.py\n\n[All audits](../libraries.md)\n\n```python\n{code}```\n"
    return pages


# --- cached studies -----------------------------------------------------------------------------------------------------------

ZOO_HEAD = """\
# Zoo of known bugs

These mechanisms are the benchmark of any auditor: correct and broken ones, written from papers and bug reports. Their exact
privacy is known by computation. There are sparse vectors, noisy maxima, wrong scales and sensitivities, truncated, rounded
and one-sided noise, the low bits of doubles, releases too many, and fixed seeds. [`tailproof.verification.auditing.zoo`][]
and [`tailproof.verification.auditing.zoo_reports`][] have the mechanisms, [`tailproof.verification.auditing.zoo_truth`][]
their exact privacy.

Each is audited on a pair of its own with confidence {confidence}, with 2·10⁴, then 2·10⁵, then 2·10⁶ runs until it is
flagged. The table is what `python benchmarks/zoo.py --table` prints.

{flagged} of {broken} broken mechanisms are flagged, {false} of {correct} correct ones. Of those that are missed, two need
more than 2·10⁶ runs by the planner's figure. One shows in the last bits of doubles alone, and is flagged when the audit is
given the attacker's test of these bits.
"""

AUDITORS_HEAD = """\
# Other auditors

How often does a lower bound of a privacy parameter exceed the truth? The mechanisms have exactly known privacy, and some
have identical laws on both sides. Every estimator gets 1000 outputs of either side and states a bound at 95 % confidence.
So it may be above the truth in one run of twenty. `too often` stands where the lower limit (99 %) of the rate is above
that. The table is what `python benchmarks/auditors.py --table` prints.
[`check_auditor`][tailproof.verification.auditing.auditors.check_auditor] does the same for your own estimator; see [Test an
auditor](../audit/auditors.md).
"""


def beside(name: str) -> Any:
    """A script of this folder, as a module."""
    with patch.object(sys, "path", [str(ROOT / "docs"), *sys.path]):
        return import_module(name)


def sample_report() -> str:
    """The page that `tailproof verify` writes, for two algorithms."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tailproof", "verify", "--only", *SAMPLE, "--jobs", "1", "--report", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return (Path(folder) / "report.html").read_text(encoding="utf-8")


# --- checks, classes of bugs, verdicts ----------------------------------------------------------------------------------------

CHECKS_HEAD = """\
# Checks and bugs, A to Z

One page for each check, class of bug and verdict: what it is, why it matters, an example, and the fix. `tailproof explain
NAME` prints the same text.
"""
TITLES = {"checks": "Checks", "bugs": "Classes of bugs", "verdicts": "Verdicts"}


def explained() -> dict[str, str]:
    """A page for each text of `tailproof explain`, and the list of them."""
    sections, pages = [CHECKS_HEAD], {}
    for kind, title in TITLES.items():
        listed = [one for one in explanations.explanations() if one.kind == kind]
        rows = [[f"[`{one.name}`](explain/{kind}-{one.slug}.md)", one.summary] for one in listed]
        sections += [f"## {title}\n", markdown(["name", "in short"], rows)]
        for one in listed:
            pages[f"reference/explain/{kind}-{one.slug}.md"] = f"{linked(one)}\n[All checks and bugs](../checks.md)\n"
    return {"reference/checks.md": "\n".join(sections), **pages}


def linked(one: explanations.Explanation) -> str:
    """The text, where it names a class of bug, or another check in backticks, as a link to its page."""
    places = {found.name: f"{found.kind}-{found.slug}.md" for found in explanations.explanations() if found != one}

    def link(found: re.Match[str]) -> str:
        name = " ".join(found[0].strip("`").split())
        return f"[{found[0]}]({places[name]})" if name in places else found[0]

    title, _, rest = one.text.partition("\n")
    parts = re.split(r"(^```.*?^```$|^    .*$)", rest, flags=re.M | re.S if "```" in rest else re.M)
    plain = [
        part if i % 2 else re.sub(r"`[a-z][a-z\s]+`|\b[A-Z]{4,}(?:_[A-Z]+)*\b", link, part) for i, part in enumerate(parts)
    ]
    return title + "\n" + "".join(plain)


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

| exit code | meaning |
|---|---|
{codes}

Every command takes `--json FILE` (`-` for standard output) beside its readable text, and `--color`. `python -m tailproof`
is the same as `tailproof`. Set `TAILPROOF_TRACEBACK=1` to see where a failure happened. The texts below are those of
`--help`.
"""


def command_line() -> str:
    with patch.dict(os.environ, {"COLUMNS": "86", "NO_COLOR": "1"}):  # argparse asks the terminal for both
        texts = {name: sub.format_help() for name, sub in subcommands().items()}
    sections = [f"## tailproof {name}\n\n```text\n{words}```\n" for name, words in texts.items()]
    groups = [f"| {group} | {', '.join(map(_linked_command, names))} |" for group, names in GROUPS.items()]
    jobs = "\n".join(["| job | commands |", "|---|---|", *groups, ""])
    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    return "\n".join([COMMANDS_HEAD.format(codes=codes), jobs, *sections])


def _linked_command(name: str) -> str:
    return f"[`{name}`](#tailproof-{name})"


def subcommands() -> dict[str, argparse.ArgumentParser]:
    choices = [action.choices for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(choices[0])


# --- tables -----------------------------------------------------------------------------------------------------------------

CATALOGUE_HEAD = """\
# Catalogue of algorithms

Every algorithm of the five papers, and ours. `tailproof list` prints the same, `tailproof verify --only ID` checks one. The
claims are as published; the [errata](../findings/errata.md) say which are refuted. [Papers and ids](papers.md) has the
citations.
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


PAPERS_HEAD = """\
# Papers and ids

{papers}

## Reconstructed statements

We worked from extracted texts. Of P1 we had the appendix alone, and P4 reached us as words without formulas. So {restored}
statements are *reconstructed*: {by_paper}. We restored each from the words, the proofs and the results it uses. `tailproof
theorem`, the [atlas](atlas.md) and the report label them `reconstructed`. A mistake in such a statement may be ours and not
the paper's: check the paper before you quote it.

## Ids

| id | what |
|---|---|
| `P2.A2` | Algorithm 2 of P2 |
| `P2.T4`, `P4.T3.1` | Theorem 4 of P2, Theorem 3.1 of P4 |
| `P4.S1`, `P4.S2`, `P4.S3` | our own algorithms in P4's setting |
| `P0.R3` | our repaired variant of P0's Algorithm 3 |
| `P0.B` | the baseline of P0's experiments |
| `P0.Alg2.stability` | an [erratum](../findings/errata.md): paper and place |

The [catalogue](catalogue.md) has all algorithms, the [atlas](atlas.md) all statements.
"""


def papers() -> str:
    rows = [[paper.id, paper.line, paper.completeness] for paper in citations()]
    listed = theorems()
    restored = {paper: [s for s in listed if s.paper == paper and s.reconstructed] for paper in PAPERS}
    counts = [
        f"{len(found)} of {sum(s.paper == paper and s.source != 'ours' for s in listed)} of {paper}'s"
        for paper, found in restored.items()
        if found
    ]
    return PAPERS_HEAD.format(
        papers=markdown(["id", "paper", "what we have"], rows),
        restored=sum(map(len, restored.values())),
        by_paper=" and ".join(counts),
    )


ATLAS_HEAD = """\
# Atlas of statements

The {count} statements of the five papers and ours, as values, and {compared} sentences that compare rates. The last column
has each rate as published, and below it as derived from the paper's lemmas and parameter choices. Constants are dropped,
logarithms kept. `tailproof theorem ID` shows one of them with its assumptions, derivation and certificates. `tailproof
theorem --check` decides all of them.

!!! warning "Reconstructed statements"
    {restored} statements are marked *reconstructed*: our text of the paper lacks the formula, and we restored it. See
    [Papers and ids](papers.md).

{atlas}
"""
WITH_ATLAS = "Who dominates whom, with certificates, crossovers and pictures: [the atlas of rates](atlas-of-rates.html)."
WITHOUT_ATLAS = (
    "Who dominates whom, with certificates, crossovers and pictures, is a page of its own, which takes a minute or two to compute: "
    "`tailproof theorem --atlas atlas.html`; `python docs/build.py --atlas` adds it to this site."
)


def statements(*, with_atlas: bool) -> str:
    head = ATLAS_HEAD.format(
        count=len(theorems()),
        compared=len(comparisons()),
        restored=sum(statement.reconstructed for statement in theorems()),
        atlas=WITH_ATLAS if with_atlas else WITHOUT_ATLAS,
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
        sections.append(f"## {paper}\n\n{grid(['id', 'kind', 'says', 'rate: as published, derived'], rows)}\n")
    return WIDE + "\n".join([head, *sections])


def _rates(statement: Statement) -> str:
    """As published, or reconstructed, and below it as derived."""
    shown = [] if statement.printed is None else [mathml(statement.printed)]
    if statement.derived is not None:
        shown.append(
            "derived: the same" if statement.derived == statement.printed else f"derived: {mathml(statement.derived)}"
        )
    return "<br>".join(shown) or "–"


ERRATA_HEAD = """\
# In papers: errata

Places where a paper and a computation differ. `tailproof errata` prints the same, and `tailproof verify` computes every
difference again. The errata are under review, so we give no total.

- The kind says what is wrong: `privacy`, a privacy claim fails; `rate`, a rate; `constant`, a constant; `typo`, a display
  or a step of a proof whose conclusion holds.
- The evidence is what is measured, and what the paper allows.
- Our texts were extracted by machine. Where one lost symbol would explain the difference, the entry says so.
- An entry about a *reconstructed* statement may be our mistake; see [Papers and ids](../reference/papers.md)."""


def list_of_errata() -> str:
    return "\n".join([ERRATA_HEAD, *_errata_sections()])


def _errata_sections() -> Iterator[str]:
    for paper in PAPERS:
        yield f"## {paper}\n"
        for entry in (e for e in errata() if e.paper == paper):
            evidence = ", ".join(f"{name} = {_short(value)}" for name, value in entry.evidence.items())
            yield f"### {entry.id} {{ #{entry.id} }}\n"
            yield (
                f'<dl class="erratum"><dt>{text(entry.kind)}</dt><dd>{prose(entry.place)}</dd><dt>as published</dt>'
                f"<dd>{prose(entry.printed)}</dd><dt>found</dt><dd>{prose(entry.found)}</dd>"
                f"<dt>evidence</dt><dd><code>{text(evidence)}</code></dd></dl>\n"
            )


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else json.dumps(plain(value), ensure_ascii=False, default=str)


# --- Python -----------------------------------------------------------------------------------------------------------------


PUBLIC_HEAD = """\
# Public names

`import tailproof` offers the stable public API; it imports nothing until you use it. Breaking changes happen only in major
releases. The names below are what it is made of, and more. Everything else is documented module by module on the pages that
follow, and may change.

Type hints are complete (`py.typed`), and parameters are keyword-only words. Wrong input raises `InputError`. It names the
argument, its value and what is allowed, before any record is looked at.
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
