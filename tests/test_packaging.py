"""What is built and installed: one name in site-packages, the same files by every road, and a user's own bounds.py beside it.

Everything is built from a copy of the repository, after an editable install of that copy, by the backend's own functions (PEP 517),
and installed into environments that borrow the packages of the one that runs the tests: no network is needed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

import tailproof
from tailproof.bounds.citations import citations

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("refimpl", "bounds", "verification")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
JUNK = shutil.ignore_patterns(
    ".git", ".*_cache", ".hypothesis", ".venv", "__pycache__", "build", "dist", "report", "site", "*.egg-info", *ROOMS
)


def run(*command: str | Path, cwd: Path, code: int = 0, **environment: str) -> str:
    """Standard output and error; the environment has nothing that would point back to this repository."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PYTEST", "TAILPROOF", "COVERAGE"))
    }
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**kept, "NO_COLOR": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == code, f"{command} ended with {done.returncode}, not {code}\n{done.stdout}"
    return done.stdout


# --- what is built ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Built:
    source: Path  # the copy; it is installed editably
    wheel: Path
    sdist: Path
    again: Path  # the wheel built from the sdist


def copied(target: Path) -> Path:
    """The repository without what tools and editable installs leave in it."""
    shutil.copytree(ROOT, target, ignore=JUNK)
    for room in ROOMS:
        shutil.copytree(ROOT / room, target / room, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def backend(folder: Path, hook: str, target: Path) -> Path:
    target.mkdir(exist_ok=True)
    code = f"import hatchling.build as b; print(b.{hook}({str(target)!r}))"
    return target / run(sys.executable, "-c", code, cwd=folder).splitlines()[-1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    source = copied(folder / "source")
    backend(source, "build_editable", folder / "editable")
    assert all((source / "src" / "tailproof" / room / "__init__.py").is_file() for room in ROOMS)
    wheel, sdist = backend(source, "build_wheel", folder / "wheel"), backend(source, "build_sdist", folder / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return Built(source, wheel, sdist, backend(unpacked, "build_wheel", folder / "again"))


def files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix()


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_wheel_has_every_file_of_every_room_and_nothing_else(built: Built) -> None:
    found = {name for name in contents(built.wheel) if ".dist-info/" not in name}
    facade = {f"tailproof/{path.name}" for path in (ROOT / "src" / "tailproof").iterdir() if path.is_file()}
    rooms = {f"tailproof/{room}/{name}" for room in ROOMS for name in files(built.source / room)}
    assert "tailproof/py.typed" in facade
    assert {"tailproof/verification/libraries.json", "tailproof/verification/page/style.css"} <= rooms  # data, too
    assert found == facade | rooms


def test_the_sdist_builds_the_same_wheel(built: Built) -> None:
    assert built.wheel.name == built.again.name
    assert contents(built.wheel) == contents(built.again)


def test_the_sdist_has_what_the_tests_need_and_no_file_twice(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert len(names) == len(set(names))
    for folder in (*ROOMS, "tests", "tools", "examples", "benchmarks", "docs"):
        expected = {f"{folder}/{name}" for name in files(built.source / folder)}
        assert expected == {name for name in names if name.startswith(f"{folder}/")}
    assert {"pyproject.toml", "README.md", "CITATION.cff", "CHANGELOG.md", "src/links.py"} <= set(names)
    assert not [name for name in names if name.startswith(tuple(f"src/tailproof/{room}" for room in ROOMS))]


# --- what is installed --------------------------------------------------------------------------------------------------------

SUBJECTS = """
import numpy as np

MINE = True

def noisy(data, rng, size):
    return np.clip(data, 0, 1).sum() + rng.laplace(scale={scale}, size=size)
"""
TEST = """
import bounds
import numpy as np
import refimpl
import tailproof
import verification

PAIR = [(np.zeros((1, 1)), np.ones((1, 1)))]

def test_mine():
    assert bounds.MINE and refimpl.MINE and verification.MINE
    tailproof.assert_private(verification.noisy, "pure(eps=1)", PAIR, budget=1000)
"""
IMPORTS = """
import sys, bounds, refimpl, verification
assert bounds.MINE and refimpl.MINE and verification.MINE
import tailproof, tailproof.bounds, tailproof.refimpl, tailproof.verification
for name in tailproof.__all__:
    getattr(tailproof, name)
assert tailproof.bounds is not bounds and tailproof.bounds.compare is tailproof.compare
assert sys.modules["bounds"] is bounds and sys.modules["refimpl"] is refimpl
print(tailproof.__file__)
"""


@dataclass(frozen=True)
class Installed:
    python: Path
    source: Path  # where the code lies
    site: Path  # site-packages

    def command(self, name: str) -> Path:
        return self.python.with_name(name + self.python.suffix)


def environment(folder: Path) -> Installed:
    """A virtual environment that sees this one's packages, but not its tailproof."""
    venv.create(folder, symlinks=os.name != "nt", with_pip=False)
    paths = sysconfig.get_paths("venv", vars={"base": str(folder), "platbase": str(folder)})
    site, borrowed = Path(paths["purelib"]), folder / "borrowed"
    borrowed.mkdir()
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in Path(place).iterdir():
            if not path.name.startswith(("tailproof", "_tailproof")):
                (borrowed / path.name).symlink_to(path)
    (site / "borrowed.pth").write_text(f"{borrowed}\n")
    return Installed(Path(paths["scripts"], "python" + (".exe" if os.name == "nt" else "")), site, site)


def install(into: Installed, *what: str) -> None:
    """pip runs in this environment; the backend that it asks runs in the other one, and finds hatchling among the borrowed."""
    flags = ("--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", "--no-compile", "--quiet")
    run(into.python, "-m", "pip", "install", *flags, *what, cwd=into.site, PIP_DISABLE_PIP_VERSION_CHECK="1")


@pytest.fixture(scope="module", params=["wheel", "editable"])
def installed(request: pytest.FixtureRequest, built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    found = environment(tmp_path_factory.mktemp(request.param) / "venv")
    if request.param == "wheel":
        install(found, str(built.wheel))
        return found
    install(found, "-e", str(built.source))
    return Installed(found.python, built.source / "src", found.site)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A user's folder, whose modules have the names of our rooms; the claim of bounds:noisy is false."""
    folder = tmp_path / "mine"
    (folder / "verification").mkdir(parents=True)
    for name, scale in (("bounds.py", 0.1), ("refimpl.py", 1), ("verification/__init__.py", 1)):
        (folder / name).write_text(SUBJECTS.format(scale=scale))
    (folder / "test_mine.py").write_text(TEST)
    return folder


def test_only_one_name_goes_into_site_packages(installed: Installed, tmp_path: Path) -> None:
    ours = {path.name for path in installed.site.iterdir()} - {"borrowed.pth", "__pycache__"}
    editable = {"_tailproof.pth"} if installed.source != installed.site else {"tailproof"}
    assert ours == {f"tailproof-{PROJECT['project']['version']}.dist-info"} | editable
    for room in ROOMS:
        said = run(installed.python, "-c", f"import {room}", cwd=tmp_path, code=1)
        assert f"No module named '{room}'" in said


@pytest.mark.parametrize("safe", [False, True], ids=["from the folder", "from another folder, PYTHONSAFEPATH"])
class TestBesideAUsersModules:
    """From the folder itself, and from another one where nothing but PYTHONPATH leads to it."""

    def where(self, mine: Path, tmp_path: Path, safe: bool) -> tuple[Path, dict[str, str]]:
        return (tmp_path, {"PYTHONSAFEPATH": "1", "PYTHONPATH": str(mine)}) if safe else (mine, {})

    def test_imports(self, installed: Installed, mine: Path, tmp_path: Path, safe: bool) -> None:
        folder, variables = self.where(mine, tmp_path, safe)
        said = run(installed.python, "-c", IMPORTS, cwd=folder, **variables)
        assert Path(said.strip()).is_relative_to(installed.source)

    def test_audits(self, installed: Installed, mine: Path, tmp_path: Path, safe: bool) -> None:
        """Of the true claim, a false alarm has probability at most 1e-9; the false one has ε = 10."""
        folder, variables = self.where(mine, tmp_path, safe)
        options = ("--claim", "pure(eps=1)", "--columns", "1", "--bounds", "0:1", "--budget", "2000")
        audit = installed.command("tailproof"), "audit"
        assert "violated" in run(*audit, "bounds:noisy", *options, cwd=folder, code=1, **variables)
        place = "refimpl:noisy" if safe else "verification:noisy"
        assert "consistent" in run(*audit, place, *options, "--confidence", "0.999999999", cwd=folder, **variables)

    def test_the_plugin_of_pytest(self, installed: Installed, mine: Path, tmp_path: Path, safe: bool) -> None:
        """A false alarm of the one audit has probability at most 1e-9: the plugin hears the setting."""
        folder, variables = self.where(mine, tmp_path, safe)
        ini = folder / "pytest.ini"
        ini.write_text("[pytest]\ntailproof_false_alarm = 1e-9\n")
        options = ("-c", ini, "-p", "no:cacheprovider", "-p", "no:xdist", "-q")
        said = run(installed.python, "-m", "pytest", *options, mine / "test_mine.py", cwd=folder, **variables)
        assert re.search(r"tailproof: 1 audit; chance of a false alarm at most \S+ of 1e-09", said)


def test_the_commands_are_there(installed: Installed, tmp_path: Path) -> None:
    version = f"tailproof {PROJECT['project']['version']}"
    assert version in run(installed.command("tailproof"), "--version", cwd=tmp_path)
    assert version in run(installed.python, "-m", "tailproof", "--version", cwd=tmp_path)


@pytest.mark.parametrize("installed", ["wheel"], indirect=True)  # all other tests find them in an editable install
def test_mutants_and_data_files_are_found_from_anywhere(installed: Installed, tmp_path: Path) -> None:
    """A check of one algorithm rebuilds modules from their sources, and reads files that lie beside the code."""
    out = ("--report", tmp_path / "report")
    run(installed.command("tailproof"), "verify", "--only", "P2.A2", *out, cwd=tmp_path, PYTHONSAFEPATH="1")
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000
    run(installed.command("tailproof"), "vectors", "export", tmp_path / "vectors", cwd=tmp_path, PYTHONSAFEPATH="1")
    assert list((tmp_path / "vectors").glob("*.json"))


USES = """
import numpy as np
from tailproof.verification import AuditResult

def mechanism(data: np.ndarray, rng: np.random.Generator) -> float:
    return float(data.mean() + rng.laplace())

{example}
known: AuditResult = result
reveal_type(tailproof.papers())
wrong: int = tailproof.theorem("P2.T4").says
"""


def test_mypy_sees_the_types_from_a_user_s_file(installed: Installed, tmp_path: Path) -> None:
    """What the facade's text shows passes; a mistake is found."""
    example = "\n".join(line.strip() for line in (tailproof.__doc__ or "").splitlines() if line.startswith("    "))
    assert "tailproof.audit(" in example
    (tmp_path / "uses.py").write_text(USES.format(example=example))
    options = ("--python-executable", installed.python, "--cache-dir", tmp_path / "cache")
    said = run(sys.executable, "-m", "mypy", *options, "uses.py", cwd=tmp_path, code=1)
    assert "tailproof.bounds.citations.Citation" in said
    assert 'Incompatible types in assignment (expression has type "str", variable has type "int")' in said
    assert "Found 1 error in 1 file" in said, said


# --- how to cite it -----------------------------------------------------------------------------------------------------------


def test_citation_cff() -> None:
    """What the schema of the Citation File Format 1.2.0 requires, and the papers as `tailproof.papers()` has them."""
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert found["cff-version"] == "1.2.0"
    assert found["type"] == "software"
    assert all(isinstance(found[key], str) and found[key] for key in ("message", "title", "version"))
    assert found["version"] == PROJECT["project"]["version"]
    assert found["license"] == PROJECT["project"]["license"]
    assert found["keywords"] == PROJECT["project"]["keywords"]
    assert found["authors"] == PROJECT["project"]["authors"]
    for paper, reference in zip(citations(), found["references"], strict=True):
        names = tuple(f"{author['given-names']} {author['family-names']}" for author in reference["authors"])
        assert (reference["title"], names, reference["year"]) == (paper.title, paper.authors, paper.year)
        assert reference["type"] == ("conference-paper" if paper.venue else "article")
        if paper.venue:
            assert f"{reference['conference']['name']}, pages {reference['start']}–{reference['end']}" == paper.venue
        assert [one["value"] for one in reference.get("identifiers", [])] == ([paper.identifier] if paper.identifier else [])
        assert reference.get("url") == paper.url
