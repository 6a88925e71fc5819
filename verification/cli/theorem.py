"""`tailproof theorem`: the papers' statements."""

from __future__ import annotations

import argparse

from tailproof.refimpl.validation import InputError
from tailproof.verification.bound_checks import draw_atlas, list_theorems, show_theorem
from tailproof.verification.cli import common
from tailproof.verification.paper_check import check_papers
from tailproof.verification.workers import Workers

EXAMPLE = (
    "tailproof theorem P4.T3.1\n"
    "         tailproof theorem --check                (print against derivation; takes half a minute)\n"
    "         tailproof theorem --atlas atlas.html     (who dominates whom, where they cross; takes a minute or two)"
)


def add(sub: argparse.ArgumentParser) -> None:
    common.json_option(sub)
    common.jobs_option(sub)
    sub.add_argument("id", nargs="?", metavar="ID", help="a statement; with --check, a paper (P0 to P4)")
    sub.add_argument(
        "--check",
        action="store_true",
        help="decide everything: print against derivation, and what the papers say of their rates",
    )
    sub.add_argument(
        "--atlas",
        type=common.new_file,
        metavar="FILE",
        help="write a page with every rate, who dominates whom, and plots",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.atlas is not None:
        if arguments.id is not None or arguments.check:
            raise InputError("atlas: shows all statements; leave out ID and --check")
        code, value, text = draw_atlas(arguments.atlas)
    elif arguments.check:
        chosen = [arguments.id] if arguments.id else None
        code, value, text = check_papers(chosen, Workers(jobs=arguments.jobs, progress=True))
    else:
        code, value, text = list_theorems() if arguments.id is None else show_theorem(arguments.id)
    common.emit(arguments, value, text)
    return code
