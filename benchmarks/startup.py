"""How long it takes to start: CPU seconds, and multiples of `python -c pass`.  python benchmarks/startup.py [--runs 15]

CPU time of the whole process, children included; the median of several runs, taken in turns so that a busy moment hits all alike.
The budgets are those that tests/verification/cli/test_startup.py holds: 0.3 s for --version and --help, 0.15 s for the import.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from statistics import median

from tailproof.verification.report import table

PASS = "python -c pass"
COMMANDS = {
    PASS: ["-c", "pass"],
    "import tailproof": ["-c", "import tailproof"],
    "tailproof --version": ["-m", "tailproof", "--version"],
    "tailproof --help": ["-m", "tailproof", "--help"],
    "tailproof": ["-m", "tailproof"],
    "tailproof verfy": ["-m", "tailproof", "verfy"],
    "tailproof list": ["-m", "tailproof", "list"],
    "tailproof audit --help": ["-m", "tailproof", "audit", "--help"],
    "tailproof calibrate …": ["-m", "tailproof", "calibrate", "laplace", "--sensitivity", "1", "--epsilon", "1"],
}
BUDGETS = {"import tailproof": 0.15, "tailproof --version": 0.3, "tailproof --help": 0.3}


def seconds_of(words: list[str]) -> float:
    """CPU seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def measured(commands: dict[str, list[str]], runs: int) -> dict[str, float]:
    """Medians."""
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, words in commands.items():
            found[name].append(seconds_of(words))
    return {name: median(values) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    found = measured(COMMANDS, parser.parse_args().runs)
    rows = [
        [name, f"{value:.3f}", f"{value / found[PASS]:.1f}", f"{BUDGETS[name]:g}" if name in BUDGETS else ""]
        for name, value in found.items()
    ]
    print(table(rows, ["what", "CPU seconds", f"times {PASS}", "budget"]))


if __name__ == "__main__":
    main()
