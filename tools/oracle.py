"""Did a change of the code change an answer?  Freeze what the commands answer, change the code, and check.

    python tools/oracle.py freeze FOLDER            writes every answer below FOLDER
    python tools/oracle.py check FOLDER             asks again, and says what differs; exit 1 if anything does
    python tools/oracle.py check FOLDER --rename R  the same, after the renamings that the file R states

What is asked: the quick report, the check of every paper, the catalogue, the errata, the exported vectors, thirty seeded runs of
`solve`, `audit` and `sweep`, and how many tests, mutants and findings there are.  Times are left out: they alone may differ.

R is JSON: {"text": [["old", "new"], …], "drop": ["key", …]}.  Before they are compared, `text` is replaced in the frozen answers,
in that order, and keys named in `drop` are removed from both sides at any depth ("findings.tried": those of findings alone).

Run both sides on one machine.  Answers are bytes, and another processor may round the last one differently.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent.parent
TIMES = ("seconds",)

SUBJECTS = """\
import numpy as np


def noisy_mean(data, rng):
    return data.mean() + rng.laplace(scale=1 / len(data))


def half_noise(data, rng, size):
    return np.clip(data, 0, 1).mean() + rng.laplace(scale=0.5 / len(data), size=size)


def gaussian(data, rng, size):
    return np.clip(data, -1, 1).sum(axis=0) + rng.normal(scale=2.0, size=(size, data.shape[1]))


def response(data, rng, size):
    return np.where(rng.random(size) < 0.75, float(data[0, 0] > 0), float(data[0, 0] <= 0))


def leaks_rarely(data, rng, size):
    return np.where(rng.random(size) < 1e-2, data[0, 0], rng.laplace(size=size))
"""

AUDITS = """\
noisy_mean --claim pure(eps=1) --columns 1 --sequential
noisy_mean --claim pure(eps=1) --columns 1 --bounds 0:1 --budget 4000 --exhaustive
half_noise --claim pure(eps=1) --columns 1 --bounds 0:1 --budget 20000 --exhaustive
half_noise --claim pure(eps=2) --columns 1 --bounds 0:1 --budget 20000 --exhaustive
half_noise --claim pure(eps=1) --columns 1 --bounds 0:1 --budget 20000 --sequential
gaussian --claim gdp(mu=1) --columns 2 --budget 20000 --exhaustive
gaussian --claim zcdp(rho=.1) --columns 1 --budget 20000 --exhaustive
gaussian --claim approx(eps=1,delta=1e-5) --columns 1 --budget 20000 --confidence .99 --exhaustive
response --claim pure(eps=1.2) --columns 1 --budget 20000 --exhaustive
response --claim pure(eps=1) --columns 1 --budget 20000 --add-remove --exhaustive
leaks_rarely --claim approx(eps=1,delta=1e-3) --columns 1 --budget 20000 --exhaustive
leaks_rarely --claim pure(eps=1) --columns 1 --budget 20000 --sequential
"""

SOLVES = """\
P2.A2 --columns a b --rho 0.1 --set clip=5
P3.A1 --columns a --epsilon 1 --delta 1e-5 --failure 0.1 --moment-order 2 --moment-bound 2
P2.A1 --loss squared --domain ball:1 --epsilon 1 --delta 1e-5 --moment-order 2 --moment-bound 3 --smoothness 4 --preset tuned
P1.A3 --loss squared --domain ball:1 --epsilon 1 --delta 1e-5 --moment-order 2 --moment-bound 3 --smoothness 4 --mean-slope 2
P4.A1 --target t --loss absolute --domain ball:1 --epsilon 1 --moment-order 2 --moment-bound 3
P4.S2 --target t --loss absolute --domain ball:1 --epsilon 1 --moment-order 2 --moment-bound 3
P4.S2 --target t --loss squared --domain ball:1 --epsilon 1 --moment-order 2 --moment-bound 3 --set preset=tuned
P4.S1 --target t --loss absolute --domain ball:1 --epsilon 1 --set weight=0.1 lipschitz=5
P4.A4 --target t --loss absolute --domain box:-1,1 --epsilon 1 --set weight=0.1 lipschitz=20 reading=B
P0.A3 --loss logistic --domain ball:5 --epsilon 1 --delta 1e-5 --moment-order 8 --moment-bound 3.75 --record-smoothness 3.6
"""

SWEEPS = """\
P2.T2 --runs 4 --over n=500:2000:3
P2.T4 --runs 3 --over n=1000:4000:3
P1.A4 --problem linear --over d=1,2,4 --runs 3
P3.A1 --runs 4
P4.A1 --runs 3 --over n=200:800:3
P0.A3 --runs 3 --over n=200:800:3
P4.S1 --runs 3 --over n=200:800:3
P2.A2 --runs 4 --over d=1,2,4
"""

CALCULATIONS = """\
calibrate gaussian --sensitivity 0.01 --epsilon 0.5 --delta 1e-6
calibrate convert zcdp(rho=.1) --delta 1e-6
calibrate compose pure(eps=.1) pure(eps=.2) --delta 1e-6
plan --claim pure(eps=1) --true pure(eps=1.2) --pair laplace
compare d/(n*eps) sqrt(d/(n*eps)) --where n*eps>=d
compare sqrt(d/(n*eps)) d/(n*eps) --where n*eps>=d
"""


def lines(text: str) -> list[list[str]]:
    return [shlex.split(line) for line in text.splitlines()]


def questions() -> Iterator[tuple[str, list[str]]]:
    """(name of the answer, arguments of the command), each answered as JSON."""
    yield "list", ["list"]
    yield "errata", ["errata"]
    for paper in ("P0", "P1", "P2", "P3", "P4"):
        yield f"theorem-{paper}", ["theorem", paper, "--check"]
    for number, line in enumerate(lines(AUDITS)):
        yield f"audit-{number:02d}", ["audit", f"subjects:{line[0]}", *line[1:], "--seed", "1", "--time-limit", "0"]
    for number, line in enumerate(lines(SOLVES)):
        yield f"solve-{number:02d}", ["solve", line[0], "--data", "data.csv", *line[1:], "--seed", "1"]
    for number, line in enumerate(lines(SWEEPS)):
        yield f"sweep-{number:02d}", ["sweep", *line]
    for number, line in enumerate(lines(CALCULATIONS)):
        yield f"calculation-{number:02d}", line


def data_file() -> str:
    """Two hundred records, from a formula rather than a generator, with one large value."""
    rows = ["a,b,t,s"]
    for i in range(200):
        a, b = ((37 * i) % 101 - 50) / 50, ((53 * i) % 97 - 48) / 48
        t = 0.5 * a - 0.25 * b + ((29 * i) % 31 - 15) / 150 + (30 if i == 7 else 0)
        rows.append(f"{a},{b},{t},{1 if t > 0 else -1}")
    return "\n".join(rows) + "\n"


def without(value: Any, names: tuple[str, ...], parent: str = "") -> Any:
    """Without keys of these names; "findings.tried" is that of findings alone."""
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if key not in names and f"{parent}.{key}" not in names}
        return {key: without(item, names, key) for key, item in kept.items()}
    return [without(item, names, parent) for item in value] if isinstance(value, list) else value


def canonical(text: str, drop: tuple[str, ...] = ()) -> str:
    return json.dumps(without(json.loads(text), (*TIMES, *drop)), indent=1, ensure_ascii=False) + "\n"


def ask(folder: Path, command: str) -> None:
    """Every answer as a file in `folder`; what a command printed as an error is its answer, too."""
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "subjects.py").write_text(SUBJECTS)
        (place / "data.csv").write_text(data_file())

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run([command, *arguments], cwd=place, env=environment, capture_output=True, text=True)

        for answer, arguments in questions():
            print(answer, file=sys.stderr, flush=True)
            done = run(*arguments, "--json", "-")
            body = canonical(done.stdout) if done.stdout.strip() else done.stderr
            (folder / f"{answer}.txt").write_text(f"exit {done.returncode}\n{body}")
        print("report", file=sys.stderr, flush=True)
        done = run("verify", "--report", "report")
        report = place / "report" / "report.json"
        (folder / "report.txt").write_text(f"exit {done.returncode}\n{canonical(report.read_text())}")
        run("vectors", "export", "vectors")
        for path in sorted((place / "vectors").iterdir()):
            shutil.copy(path, folder / f"vectors-{path.name}.txt")
        counts = counted(json.loads(report.read_text()), command)
        (folder / "counts.txt").write_text(json.dumps(counts, indent=1) + "\n")


def counted(report: dict[str, Any], command: str) -> dict[str, int]:
    python = Path(command).with_name("python")
    collected = subprocess.run(
        [python, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"], cwd=HOME, capture_output=True, text=True
    )
    found = re.search(r"(\d+)(?:/\d+)? tests (?:collected|\()", collected.stdout)
    return {
        "tests": int(found[1]) if found else -1,
        "mutants": len(report["mutants"]),
        "mutants killed": sum(bool(mutant["killed_by"]) for mutant in report["mutants"]),
        "findings": len(report["findings"]),
        "failures": len(report["failures"]),
    }


def normal(text: str, drop: tuple[str, ...]) -> str:
    """Without the keys to drop, where it is a JSON answer."""
    head, _, body = text.partition("\n")
    return f"{head}\n{canonical(body, drop)}" if drop and head.startswith("exit ") and body.startswith("{") else text


def differences(old: Path, new: Path, rename: dict[str, Any]) -> int:
    """Says of every answer whether it is the same; how many are not."""
    drop, bad = tuple(rename.get("drop", ())), 0
    for name in sorted({path.name for path in (*old.glob("*.txt"), *new.glob("*.txt"))}):
        if not (old / name).exists() or not (new / name).exists():
            print(f"{name}: only in the {'old' if (old / name).exists() else 'new'} answers")
            bad += 1
            continue
        before, after = (old / name).read_text(), (new / name).read_text()
        if before == after:
            print(f"{name}: byte-identical")
            continue
        for first, second in rename.get("text", ()):
            before = before.replace(first, second)
        before, after = normal(before, drop), normal(after, drop)
        if before == after:
            print(f"{name}: equal under the stated renaming")
            continue
        bad += 1
        print(f"{name}: DIFFERS")
        changes = difflib.unified_diff(before.splitlines(), after.splitlines(), "old", "new", lineterm="", n=0)
        print("\n".join(f"    {line[:200]}" for line, _ in zip(changes, range(12), strict=False)))
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["freeze", "check"])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--command", default=str(Path(sys.executable).with_name("tailproof")), help="the installed tailproof"
    )
    parser.add_argument("--rename", type=Path, help="a file of stated renamings, see above")
    arguments = parser.parse_args()
    if arguments.what == "freeze":
        arguments.folder.mkdir(parents=True)
        ask(arguments.folder, arguments.command)
        return 0
    rename = json.loads(arguments.rename.read_text()) if arguments.rename else {}
    with tempfile.TemporaryDirectory() as name:
        ask(Path(name), arguments.command)
        bad = differences(arguments.folder, Path(name), rename)
    print(f"{bad} answers differ" if bad else "nothing differs")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
