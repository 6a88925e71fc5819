"""The `tailproof` command.  Exit codes: 0 what was checked holds, 1 it does not, 2 the input is wrong (one line, no traceback)."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # one BLAS thread per task: same results on every machine, no contention

PACKAGES = ("refimpl", "bounds", "verification")


def foreign_modules() -> list[str]:
    """Our package names are common words: say so when another module of that name was found first."""
    home = Path(__file__).resolve().parent.parent
    found = []
    for name in PACKAGES:
        place = getattr(import_module(name), "__file__", None)
        if place is None or Path(place).resolve().parent.parent != home:
            found.append(f"{name} was found at {place}, not in {home}")
    return found


def emit(arguments: argparse.Namespace, value: dict[str, Any], text: str) -> None:
    """Readable text, or JSON where `--json` asks for it (`-`: standard output, and no text)."""
    if arguments.json is None:
        print(text)
        return
    document = json.dumps(value, indent=1, allow_nan=False)
    if arguments.json == "-":
        print(document)
    else:
        print(text)
        Path(arguments.json).write_text(document + "\n")


# --- the commands -------------------------------------------------------------------------------------------------------


def do_list(arguments: argparse.Namespace) -> int:
    from refimpl.catalogue import ALGORITHMS
    from verification.mutants import mutants_of
    from verification.report import table

    entries = [
        {
            "id": a.id,
            "name": a.name,
            "paper": a.paper,
            "place": a.place,
            "claim": a.claim,
            "status": "built" if a.built else "not built yet",
            "mutants": len(mutants_of(a.id)),
        }
        for a in ALGORITHMS
    ]
    rows = [[str(e[key]) for key in ("id", "name", "place", "claim", "status")] for e in entries]
    emit(arguments, {"algorithms": entries}, table(rows, ["id", "name", "place", "published claim", "status"]))
    return 0


def do_verify(arguments: argparse.Namespace) -> int:
    from refimpl.catalogue import ALGORITHMS
    from refimpl.validation import InputError
    from verification import verify
    from verification.check import FULL, QUICK

    known = {a.id: a for a in ALGORITHMS}
    for identifier in arguments.only or []:
        if identifier not in known:
            raise InputError(f"only = {identifier!r}: must be an id of `tailproof list`")
        if known[identifier].implementation is None:
            raise InputError(f"only = {identifier!r}: has no implementation to check yet")
    effort, preset = (FULL, "full") if arguments.full else (QUICK, "quick")
    report, seconds = verify.build_report(
        only=arguments.only,
        seed=arguments.seed,
        effort=effort,
        preset=preset,
        jobs=arguments.jobs,
        progress=sys.stderr.isatty(),
    )
    folder = Path(arguments.report)
    verify.write(report, seconds, folder)
    emit(arguments, report, f"{verify.overview(report)}\nreport: {folder / 'report.html'}, {folder / 'report.json'}")
    return 1 if report["failures"] else 0


def do_replay(arguments: argparse.Namespace) -> int:
    from refimpl.validation import InputError
    from verification.witness import replay_witness

    try:
        witness = json.loads(Path(arguments.witness).read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise InputError(f"witness = {arguments.witness!r}: not a readable JSON file ({error})") from None
    if not isinstance(witness, dict) or witness.get("tailproof") != "witness":
        raise InputError(f"witness = {arguments.witness!r}: is not a witness written by tailproof")
    try:
        measured = replay_witness(witness)
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"witness = {arguments.witness!r}: damaged or of another version ({error})") from None
    verdict = "still violates" if measured.exceeds else "does not violate"
    subject = witness["algorithm"] + (f" (mutant: {witness['mutant']})" if witness["mutant"] else "")
    value = {
        "algorithm": witness["algorithm"],
        "mutant": witness["mutant"],
        "check": witness["check"],
        "claimed": measured.bound,
        "found": measured.measured if measured.measured < float("inf") else "inf",
        "violates": measured.exceeds,
        "detail": measured.detail,
    }
    numbers = f"claimed {measured.bound:.12g}, found {measured.measured:.12g}: {verdict}"
    emit(arguments, value, f"{subject}, {witness['check']}: {measured.detail}\n{numbers}")
    return 1 if measured.exceeds else 0


def do_errata(arguments: argparse.Namespace) -> int:
    from bounds.errata import errata
    from verification.report import plain

    entries = [
        {key: plain(getattr(e, key)) for key in ("id", "paper", "place", "kind", "printed", "found", "evidence")}
        for e in errata()
    ]
    text = "\n\n".join(
        f"{e['id']}  [{e['kind']}]  {e['place']}\n  printed: {e['printed']}\n  found:   {e['found']}" for e in entries
    )
    emit(arguments, {"errata": entries}, text)
    return 0


def do_calibrate(arguments: argparse.Namespace) -> int:
    from verification.calculator import calculate

    value, text = calculate(arguments)
    emit(arguments, value, text)
    return 0


def do_solve(arguments: argparse.Namespace) -> int:
    from verification.solve import solve

    value, text = solve(arguments)
    emit(arguments, value, text)
    return 0


# --- the parser -----------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        """One clear line, exit code 2."""
        print(f"tailproof: {message}", file=sys.stderr)
        raise SystemExit(2)


def parser() -> argparse.ArgumentParser:
    top = _Parser(prog="tailproof", description="Check differentially private algorithms for heavy-tailed data.")
    top.add_argument("--version", action="version", version=_version())
    commands = top.add_subparsers(dest="command", required=True, parser_class=_Parser)

    def command(name: str, action: Callable[[argparse.Namespace], int], text: str, example: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example: {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.add_argument("--json", metavar="FILE", help="write JSON to FILE (- for standard output)")
        sub.add_argument("--seed", type=_seed, default=0, help="seed of everything random (default 0)")
        sub.add_argument("--jobs", type=_jobs, default=os.cpu_count() or 1, help="worker processes (default: all cores)")
        sub.set_defaults(action=action)
        return sub

    command("list", do_list, "the catalogue: id, name, place, published claim, status", "tailproof list --json -")
    verify = command(
        "verify",
        do_verify,
        "check every algorithm, its mutants, statements and errata",
        "tailproof verify --only P2.A2 P3.A1",
    )
    size = verify.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="under two minutes (the default)")
    size.add_argument("--full", action="store_true", help="more restarts, steps, transcripts and runs")
    verify.add_argument("--only", nargs="+", metavar="ID", help="these algorithms only")
    verify.add_argument(
        "--report", default="report", metavar="DIR", help="where report.html and report.json go (default: report)"
    )
    replay = command(
        "replay",
        do_replay,
        "run a finding's counterexample again; exit 1 when it still violates",
        "tailproof replay report/witnesses/P2.A2-noise-halved.json",
    )
    replay.add_argument("witness", metavar="WITNESS.json")
    command(
        "errata",
        do_errata,
        "every place where print and derivation or measurement differ",
        "tailproof errata --json errata.json",
    )
    calibrate = command(
        "calibrate",
        do_calibrate,
        "noise scales, conversions and compositions as a calculator",
        "tailproof calibrate gaussian --sensitivity 0.01 --epsilon 0.5 --delta 1e-6\n"
        "         tailproof calibrate convert 'zcdp(rho=.1)' --delta 1e-6\n"
        "         tailproof calibrate compose 'pure(eps=.1)' 'pure(eps=.2)' --delta 1e-6",
    )
    calibrate.add_argument("what", choices=["gaussian", "laplace", "convert", "compose"])
    calibrate.add_argument(
        "claims", nargs="*", metavar="CLAIM", help="pure(eps=1), approx(eps=1,delta=1e-5), zcdp(rho=.1), gdp(mu=1)"
    )
    for name in ("sensitivity", "epsilon", "delta", "rho"):
        calibrate.add_argument(f"--{name}", type=float)
    solve = command(
        "solve",
        do_solve,
        "run a private mean estimator on a CSV or .npy file: prints the claim, the spend ledger and the estimate",
        "tailproof solve P2.A2 --data incomes.csv --columns income age --rho 0.1 --set clip=1000\n\n"
        "Every parameter is public and must be chosen without looking at the data: a clipping radius or a moment bound taken\n"
        "from the data themselves would leak them and void the claim.  Take them from units, earlier studies or theory.",
    )
    solve.add_argument("id", metavar="ID")
    solve.add_argument("--data", required=True, metavar="FILE")
    solve.add_argument("--columns", nargs="+", metavar="NAME", help="columns to use (default: all)")
    for name in ("epsilon", "delta", "rho"):
        solve.add_argument(f"--{name}", type=float)
    solve.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="further parameters of the estimator"
    )
    return top


def _version() -> str:
    try:
        return f"tailproof {metadata.version('tailproof')}"
    except metadata.PackageNotFoundError:
        return "tailproof (not installed)"


def _seed(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number >= 0")
    return int(text)


def _jobs(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number >= 1")
    return int(text)


def main(argv: list[str] | None = None) -> int:
    from refimpl.validation import InputError

    arguments = parser().parse_args(argv)
    try:
        strangers = foreign_modules()
        if strangers:
            raise InputError(f"another package stands where ours should: {'; '.join(strangers)}")
        code: int = arguments.action(arguments)
    except InputError as error:
        print(f"tailproof {arguments.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    return code


if __name__ == "__main__":
    raise SystemExit(main())
