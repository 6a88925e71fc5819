"""A command that runs one of several studies: tasks that its file of results already has are not run again."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib

Row = dict[str, Any]
Study = tuple[Callable[[int], dict[str, Any]], Callable[[list[Row]], None]]
"""What makes the tasks, by name, for so many runs; and what shows their rows."""


def run_studies(studies: dict[str, Study], *, description: str | None, runs: int) -> None:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=studies)
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, default=None)
    arguments = parser.parse_args()
    make, show = studies[arguments.study]
    done: dict[str, Row] = json.loads(arguments.json.read_text()) if arguments.json and arguments.json.exists() else {}
    tasks = make(arguments.runs)
    missing = [name for name in tasks if name not in done]
    results = joblib.Parallel(n_jobs=arguments.jobs, return_as="generator")(tasks[name] for name in missing)
    for count, (name, row) in enumerate(zip(missing, results, strict=True), start=1):
        done[name] = row
        print(f"{count}/{len(missing)} {name}", flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n")
    show([done[name] for name in tasks])
