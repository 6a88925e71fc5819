"""Conventions that a reader relies on and nothing else enforces."""

import ast
from pathlib import Path

import pytest

from tailproof.refimpl.catalogue import ALGORITHMS

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [path for package in ("refimpl", "bounds", "verification") for path in (ROOT / package).rglob("*.py")]
DRAWS = {
    "random",
    "normal",
    "standard_normal",
    "laplace",
    "gamma",
    "gumbel",
    "uniform",
    "integers",
    "permutation",
    "shuffle",
    "choice",
    "exponential",
    "standard_t",
    "default_rng",
    "rvs",
}
# Laws of noise; laws of data for experiments; directions of a search on values that are private already.
MAY_DRAW = {"laws.py", "rejection.py", "grid_walk.py", "problems.py", "hard_instances", "distance_program.py"}


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if p.is_relative_to(ROOT / "refimpl")], ids=lambda p: str(p.relative_to(ROOT))
)
def test_no_algorithm_draws_noise_outside_the_channel(path: Path) -> None:
    if {path.name, path.parent.name} & MAY_DRAW:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in DRAWS:
            owner = ast.unparse(node.func.value)
            assert owner == "validation", f"{path.name}:{node.lineno} draws {owner}.{node.func.attr}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            assert not any(name == "random" or name.startswith("random.") for name in names)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_library_code_does_not_print(path: Path) -> None:
    if path.is_relative_to(ROOT / "verification" / "cli"):
        return
    calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    assert not [n.lineno for n in calls if n.func.id == "print"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_module_says_what_it_is(path: Path) -> None:
    if path.read_text().strip():
        assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("entry", [a for a in ALGORITHMS if a.implementation], ids=lambda a: a.id)
def test_an_algorithm_s_file_opens_with_citation_and_departures(entry: object) -> None:
    text = entry.implementation.module.__doc__  # type: ignore[attr-defined]
    assert text.startswith("[P")
    assert "Departures:" in text
    assert "Statement:" in text or "claims nothing" in text


def test_the_catalogue_has_the_31_rows_of_the_papers_and_five_more() -> None:
    """P1's Algorithms 3 and 4 have rows of their own for their mean estimators, and we have objective perturbation, a private
    moment bound and a repair of LNC-GM."""
    expected = {
        "P0": ("A1", "A2", "A3", "A4", "A5", "A6", "A7", "B", "R3"),
        "P1": ("A1", "A3", "A3.mean", "A4", "A4.mean"),
        "P2": ("A1", "A2", "A3"),
        "P3": ("A1", "A2", "A3", "A4", "A5", "A6"),
        "P4": ("A1", "A2", "A3", "A4", "S1", "S2", "S3", "A5", "A7", "D4", "C6", "B1", "G"),
    }
    rows = [f"{paper}.{label}" for paper, labels in expected.items() for label in labels]
    assert len(rows) == 31 + 5
    assert [entry.id for entry in ALGORITHMS] == rows


def test_every_file_of_the_facade_is_shipped() -> None:
    """The wheel names them one by one: hatchling would follow the links of an editable install."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    facade = {f"src/tailproof/{path.name}" for path in (ROOT / "src" / "tailproof").iterdir() if path.is_file()}
    assert set(wheel["only-include"]) == facade | {"refimpl", "bounds", "verification"}


def test_rows_that_are_not_mechanisms_name_a_function_that_exists() -> None:
    from importlib import import_module

    for entry in ALGORITHMS:
        if entry.function is not None:
            module, _, name = entry.function.rpartition(".")
            assert callable(getattr(import_module(module), name))
