"""The `tailproof` command.  Exit codes: 0 what was checked holds, 1 it does not, 2 the input is wrong (one line, no traceback)."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # one BLAS thread per task: same results on every machine, no contention


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
    from tailproof.refimpl.catalogue import ALGORITHMS
    from tailproof.verification.mutants import mutants_of
    from tailproof.verification.report import table

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
    from tailproof.refimpl.catalogue import ALGORITHMS
    from tailproof.refimpl.validation import InputError
    from tailproof.verification import verify
    from tailproof.verification.check import FULL, QUICK
    from tailproof.verification.workers import discard, workers_of

    known = {a.id: a for a in ALGORITHMS}
    for identifier in arguments.only or []:
        if identifier not in known:
            raise InputError(f"only = {identifier!r}: must be an id of `tailproof list`")
        if known[identifier].implementation is None:
            raise InputError(f"only = {identifier!r}: has no implementation to check yet")
    effort, preset = (FULL, "full") if arguments.full else (QUICK, "quick")
    folder = Path(arguments.report)
    workers = workers_of(arguments, folder / "checkpoint.jsonl")
    report, seconds = verify.build_report(
        only=arguments.only, seed=arguments.seed, effort=effort, preset=preset, workers=workers
    )
    verify.write(report, seconds, folder)
    discard(workers)
    emit(arguments, report, f"{verify.overview(report)}\nreport: {folder / 'report.html'}, {folder / 'report.json'}")
    return 1 if report["failures"] else 0


def do_report(arguments: argparse.Namespace) -> int:
    from tailproof.refimpl.validation import InputError
    from tailproof.verification.page import page

    folder = Path(arguments.folder)
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        text = page(report)
    except (OSError, json.JSONDecodeError) as error:
        raise InputError(f"folder = {arguments.folder!r}: has no readable report.json ({error})") from None
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(
            f"folder = {arguments.folder!r}: its report.json is damaged or of another version ({error})"
        ) from None
    try:
        (folder / "report.html").write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"folder = {arguments.folder!r}: report.html could not be written ({error})") from None
    emit(arguments, {"page": str(folder / "report.html"), "failures": report["failures"]}, f"page: {folder / 'report.html'}")
    return 0


def do_replay(arguments: argparse.Namespace) -> int:
    from tailproof.refimpl.validation import InputError
    from tailproof.verification.auditing.witnesses import read_witness, replayed
    from tailproof.verification.witness import replay_witness

    witness = read_witness(Path(arguments.witness))
    if witness.get("check") == "audit":
        code, value, text = replayed(witness)
        emit(arguments, value, text)
        return code
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
    from tailproof.bounds.errata import errata
    from tailproof.verification.report import plain

    entries = [
        {key: plain(getattr(e, key)) for key in ("id", "paper", "place", "kind", "printed", "found", "evidence")}
        for e in errata()
    ]
    text = "\n\n".join(
        f"{e['id']}  [{e['kind']}]  {e['place']}\n  printed: {e['printed']}\n  found:   {e['found']}" for e in entries
    )
    emit(arguments, {"errata": entries}, text)
    return 0


def do_compare(arguments: argparse.Namespace) -> int:
    from tailproof.verification.bound_checks import compare_rates

    code, value, text = compare_rates(
        arguments.left,
        arguments.right,
        where=arguments.where,
        uniform=arguments.uniform,
        logs=not arguments.drop_logs,
        smt2=arguments.smt2,
    )
    emit(arguments, value, text)
    return code


def do_theorem(arguments: argparse.Namespace) -> int:
    from tailproof.refimpl.validation import InputError
    from tailproof.verification.bound_checks import draw_atlas, list_theorems, show_theorem
    from tailproof.verification.paper_check import check_papers
    from tailproof.verification.workers import Workers

    if arguments.atlas is not None:
        if arguments.id is not None or arguments.check:
            raise InputError("atlas: shows all statements; leave out ID and --check")
        code, value, text = draw_atlas(arguments.atlas)
    elif arguments.check:
        chosen = [arguments.id] if arguments.id else None
        code, value, text = check_papers(chosen, Workers(jobs=arguments.jobs, progress=True))
    else:
        code, value, text = list_theorems() if arguments.id is None else show_theorem(arguments.id)
    emit(arguments, value, text)
    return code


def do_vectors(arguments: argparse.Namespace) -> int:
    from tailproof.refimpl.validation import InputError
    from tailproof.verification.vectors import command

    if arguments.what == "export":
        if arguments.folder is None:
            raise InputError("folder is missing: vectors export DIR")
        code, value, text = command.export(arguments.folder)
    else:
        code, value, text = command.check(
            arguments.program, folder=arguments.folder, kinds=arguments.kind, time_limit=arguments.time_limit
        )
    emit(arguments, value, text)
    return code


def do_calibrate(arguments: argparse.Namespace) -> int:
    from tailproof.verification.calculator import calculate

    value, text = calculate(arguments)
    emit(arguments, value, text)
    return 0


def do_plan(arguments: argparse.Namespace) -> int:
    from tailproof.verification.auditing.planner import planned

    value, text = planned(arguments)
    emit(arguments, value, text)
    return 0


def do_audit(arguments: argparse.Namespace) -> int:
    from tailproof.verification.auditing.command import run_audit
    from tailproof.verification.workers import discard, workers_of

    code, value, text = run_audit(arguments)
    emit(arguments, value, text)
    discard(workers_of(arguments))
    return code


def do_sweep(arguments: argparse.Namespace) -> int:
    from tailproof.verification.sweep_runs import run_sweep
    from tailproof.verification.workers import discard, workers_of

    code, value, text = run_sweep(arguments)
    emit(arguments, value, text)
    discard(workers_of(arguments))
    return code


def do_sandwich(arguments: argparse.Namespace) -> int:
    from tailproof.verification.sandwich import run_sandwich
    from tailproof.verification.workers import discard, workers_of

    code, value, text = run_sandwich(arguments)
    emit(arguments, value, text)
    discard(workers_of(arguments))
    return code


def do_solve(arguments: argparse.Namespace) -> int:
    from tailproof.refimpl.validation import InputError
    from tailproof.verification.solve import solve, weights_document

    def announce(text: str) -> None:
        if arguments.json != "-":
            print(text, flush=True)

    def progress(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    value, text = solve(arguments, announce=announce, progress=progress if sys.stderr.isatty() else None)
    emit(arguments, value, text)
    if arguments.weights is not None:
        try:
            Path(arguments.weights).write_text(json.dumps(weights_document(value), indent=1, allow_nan=False) + "\n")
        except OSError as error:
            raise InputError(f"weights = {arguments.weights!r}: could not be written ({error})") from None
    return 0


def do_experiment(arguments: argparse.Namespace) -> int:
    from tailproof.verification.experiments.command import experiment, listed

    if arguments.name is None:
        value, text = listed()
    else:
        value, text = experiment(arguments, progress=sys.stderr.isatty())
    emit(arguments, value, text)
    return 0


# --- the parser -----------------------------------------------------------------------------------------------------------

SOLVE_HELP = """\
Every parameter is public and must be chosen without looking at the data: a clipping radius or a moment bound taken
from the data themselves would leak them and void the claim.  Take them from units, physical limits, earlier studies
or public data.  Data are never rescaled; rescale them yourself, by public numbers.  Public are also the number of
records, the columns and, of a LIBSVM file, the number of features: fix it by --features.

The moment order k and the moment bound G of P4.A1 and P4.S2
  G bounds (E L^k)^(1/k), where L is the Lipschitz constant of one record's loss on the domain.  With ||x|| the norm of a
  record's features, t its target and R the largest norm in the domain:
    absolute, affine, hinge, logistic, relu   L <= ||x||
    squared                                   L <= ||x|| (||x|| R + |t|)
    l4                                        L <= 4 ||x|| (||x|| R + |t|)^3
    quadratic                                 L <= ||x|| + R
    ridge:W:NAME                              as NAME, plus W R
  Example: d features of mean 0 and standard deviation at most s give G = s sqrt(d) for k = 2; features of which at most 14 are
  1 and the others 0 give G = sqrt(14) for every k.  k = 2 asks the least of the data; a larger k, with a G that is still true,
  gives a better bound.  With a G that is too small the result is just as private but may be inaccurate, and the bound does not
  hold; one that is too large costs accuracy.
  --set preset=tuned takes smaller clips and weights: the same privacy, better on ordinary data, with a weaker bound.
  P4.S2 is for absolute, affine, hinge, logistic, relu and squared (tuned only) and for ball and box; its bound needs
  (E ||x||^k)^(1/k) <= G.  With preset=tuned it is the more accurate one on ordinary data; both print their bounds.

P4.S1, P4.A2, P4.A4 and P4.D4 take the weight of the regularisation and the clip by --set weight=... lipschitz=...; P4.A2 also
needs --failure, P4.A4 takes --set reading=B.

P0.A3 to A7, P0.B, P0.R3, P1.A1, P1.A3, P1.A4 (and P2.A1, P3.A2, P3.A5 with --preset) are (epsilon, delta)-private
  --preset theory takes the papers' parameters, tuned (the default) practical ones of the same privacy.  Both are made from n,
  the domain and the public numbers among the flags, and printed before the run; --set replaces single ones.  An error names
  the flag that is missing.  --moment-order k and --moment-bound G mean, for the gradient g of a record's loss on the domain,
    P0        (E ||g||^(2k))^(1/2k) <= G, k >= 2
    P1, P3    E |g_j|^k <= G for every coordinate j, 1 < k <= 2; for P1 k is 2
    P2        (E |<u, g>|^k)^(1/k) <= G for every unit vector u, k >= 2

Labels of hinge and logistic are -1 and 1, or two values and --positive."""


EXPERIMENT_HELP = """\
P0: test errors over n at epsilon = 8, and over epsilon at n = 10000; delta = n^-1.1.  P1: over n at d = 20 and over d at n = 100000
(on files over n alone), with the parameters of its Appendix C; what that does not print is ours: epsilon = 1, delta = n^-1.1,
T = 2 log n steps, features, W.  All parameters are made from public numbers; that rows have norm --row-norm at most is such a
number, and yours to promise.  The papers tuned theirs by results, as --hindsight does; that is not private.
Targets are labels, -1 and 1.  Of UCI's Adult, words become 0-1 features by UCI's list of values, numbers are divided by fixed
limits, neither of which depends on the records."""

SOLVE_NUMBERS = {
    "smoothness": "of the risk (P0.A6, P0.A7, P1 to P3)",
    "record-smoothness": "of every record's loss (P0.A3 to A5, R3); records that are rougher do not count",
    "strong-convexity": "of the risk",
    "lipschitz": "of every record's loss (theory presets), or the clip of P4.S1, P4.A2, P4.A4 and P4.D4",
    "theta": "P0.A5, P0.A7: a lower bound, above 1, of the exponent of the noise condition",
    "true-sparsity": "P3.A5: how many weights of the minimiser are not 0",
    "mean-slope": "P1.A3: the mean of every coordinate of the gradient is at most this, on the domain",
}

COMPARE_HELP = """\
Rates are built from positive symbols by + * / ** sqrt, Min, Max and log.  Symbols in exponents (k, p, v, theta, theta_bar) are
structural: they need a range among the conditions, the answer holds for every value in it, and the constant may depend on
them unless --uniform is given.  n >= 1, d >= 1 and delta <= 1/2 are taken for granted; every power of a logarithm is below every
positive power of its argument.  Quote the arguments: the shell reads < and * otherwise."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        """One clear line, exit code 2."""
        print(f"tailproof: {message}", file=sys.stderr)
        raise SystemExit(2)


def parser() -> argparse.ArgumentParser:
    top = _Parser(prog="tailproof", description="Check differentially private algorithms for heavy-tailed data.")
    top.add_argument("--version", action="version", version=_version())
    commands = top.add_subparsers(dest="command", required=True, parser_class=_Parser)

    def command(
        name: str, action: Callable[[argparse.Namespace], int], text: str, example: str, secret: bool = False
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example: {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        sub.add_argument("--json", metavar="FILE", help="write JSON to FILE (- for standard output)")
        if secret:  # who knows the seed can take the noise away again
            sub.add_argument(
                "--seed", type=_seed, help="for tests: who knows it can undo the noise (default: not predictable)"
            )
        else:
            sub.add_argument("--seed", type=_seed, default=0, help="seed of everything random (default 0)")
        sub.add_argument("--jobs", type=_jobs, default=os.cpu_count() or 1, help="worker processes (default: all cores)")
        sub.set_defaults(action=action)
        return sub

    def spread(sub: argparse.ArgumentParser, kept: str = "(default: nowhere)") -> None:
        """What every command has that runs many tasks."""
        sub.add_argument(
            "--cluster",
            metavar="ADDRESS",
            help="run on a Dask cluster instead: its scheduler, such as tcp://host:8786, or local:2 to try; "
            "pip install 'tailproof[cluster]'",
        )
        sub.add_argument("--checkpoint", metavar="FILE", help=f"keep finished tasks there until all are done {kept}")
        sub.add_argument("--resume", action="store_true", help="go on from the checkpoint of a run that was interrupted")

    command("list", do_list, "the catalogue: id, name, place, published claim, status", "tailproof list --json -")
    verify = command(
        "verify",
        do_verify,
        "check every algorithm, its mutants, statements and errata",
        "tailproof verify --only P2.A2 P3.A1\n"
        "         tailproof verify --full --resume                      (goes on where an interrupted run stopped)\n"
        "         tailproof verify --full --cluster tcp://host:8786     (on a Dask cluster; the same report)",
    )
    size = verify.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="under two minutes (the default)")
    size.add_argument("--full", action="store_true", help="more restarts, steps, transcripts and runs")
    verify.add_argument("--only", nargs="+", metavar="ID", help="these algorithms only")
    verify.add_argument(
        "--report", default="report", metavar="DIR", help="where report.html and report.json go (default: report)"
    )
    spread(verify, "(default: checkpoint.jsonl in the report's folder)")
    again = command(
        "report",
        do_report,
        "make the page of a report again from its report.json; nothing is computed anew",
        "tailproof report report        (reads report/report.json, writes report/report.html)",
    )
    again.add_argument("folder", metavar="DIR", help="the folder with report.json")
    replay = command(
        "replay",
        do_replay,
        "run a finding's counterexample again; exit 1 when it still violates",
        "tailproof replay report/witnesses/P2.A2-noise-halved.json\n\n"
        "The witness of an audit names a function or a program: it is imported or run, on the witness's pair, with fresh coins.\n"
        "Exit 2 when it failed before a verdict was reached.",
    )
    replay.add_argument("witness", metavar="WITNESS.json")
    command(
        "errata",
        do_errata,
        "every place where print and derivation or measurement differ",
        "tailproof errata --json errata.json",
    )
    compare = command(
        "compare",
        do_compare,
        "is one rate at most a constant times another?  Exit 0 and a certificate, 1 and a path, 3 if undecided",
        "tailproof compare 'sqrt(d/n)' 'sqrt(d/n) + (d/(n*eps))**(1-1/k)' --where 'k>=2' 'n>=d'\n\n" + COMPARE_HELP,
    )
    compare.add_argument("left", metavar="RATE_A")
    compare.add_argument("right", metavar="RATE_B")
    compare.add_argument(
        "--where",
        nargs="+",
        action="extend",
        default=[],
        metavar="COND",
        help="conditions, such as 'eps<=1/sqrt(d)' or 'p>=2'",
    )
    compare.add_argument("--uniform", action="store_true", help="one constant for all values of k, p, v, theta")
    compare.add_argument("--drop-logs", action="store_true", help="up to logarithms")
    compare.add_argument("--smt2", metavar="FILE", help="write the negated claim as SMT-LIB 2, for another solver to refute")
    statement = command(
        "theorem",
        do_theorem,
        "the papers' statements: all, or one as printed, as derived, with its check; or a check or an atlas of them all",
        "tailproof theorem P4.T3.1\n"
        "         tailproof theorem --check                (print against derivation; takes half a minute)\n"
        "         tailproof theorem --atlas atlas.html     (who dominates whom, where they cross; takes a minute or two)",
    )
    statement.add_argument("id", nargs="?", metavar="ID", help="a statement; with --check, a paper (P0 to P4)")
    statement.add_argument(
        "--check",
        action="store_true",
        help="decide everything: print against derivation, and what the papers say of their rates",
    )
    statement.add_argument(
        "--atlas", metavar="FILE", help="write a page with every rate, comparisons with certificates, crossovers and plots"
    )
    sweep = command(
        "sweep",
        do_sweep,
        "measured excess risk along one parameter, its slope with an interval, beside the theorem's rate",
        "tailproof sweep                                           (what can be swept)\n"
        "         tailproof sweep P2.T4 --over n=1000:30000:5 --plot p2.svg\n"
        "         tailproof sweep P1.A4 --problem linear --over d=1,2,4,8 --epsilon 0.5\n\n"
        "Exit 1 when measured / rate grows, or the noise leaves no information, and nothing recorded explains it.",
    )
    sweep.add_argument("id", nargs="?", metavar="ID", help="an algorithm or a statement (without one: the list)")
    sweep.add_argument(
        "--over", metavar="NAME=LOW:HIGH:COUNT", help="what is swept: also NAME=A,B,C, or NAME for its own values"
    )
    sweep.add_argument("--problem", metavar="TEXT", help="the problem whose name has this text")
    sweep.add_argument("--preset", choices=["theory", "tuned"], help="the algorithm's parameters")
    sweep.add_argument("--epsilon", type=float, help="ε where it is not swept")
    sweep.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="other values, such as d=3"
    )
    sweep.add_argument("--runs", type=int, help="runs at each value")
    sweep.add_argument("--printed", action="store_true", help="the rate as printed, where another one follows")
    sweep.add_argument("--plot", metavar="FILE", help="a picture: .svg, .png or .pdf")
    sweep.add_argument(
        "--logs",
        choices=["keep", "drop"],
        default="keep",
        help="drop: the rate up to logarithms, each of them 1 (default keep)",
    )
    spread(sweep)
    sandwich = command(
        "sandwich",
        do_sandwich,
        "algorithms on the hard instances of the lower bounds: measured error between the lower and their own upper bounds",
        "tailproof sandwich --runs 200 --plot sandwich.svg\n"
        "         tailproof sandwich --only P4.S1 P3.A1             (algorithms)\n"
        "         tailproof sandwich --only 'P0 Thm 4'              (instances whose name has this text)\n\n"
        "Exit 1 when an algorithm is better than its privacy allows, or worse than its own bound.",
    )
    sandwich.add_argument("--runs", type=int, default=60, help="of every pair (default 60); rounded up to all members alike")
    sandwich.add_argument("--only", nargs="+", metavar="TEXT", help="these algorithms, or instances with this text, only")
    sandwich.add_argument("--plot", metavar="FILE", help="a picture: .svg, .png or .pdf")
    spread(sandwich)
    audit = command(
        "audit",
        do_audit,
        "black-box audit of a function f(data, rng) or f(data, rng, size): is its privacy claim refuted by its outputs?",
        "tailproof audit mymodule:noisy_mean --claim 'pure(eps=1)' --bounds 0:1 --columns 1\n"
        "         tailproof audit mymodule:noisy_mean --claim 'pure(eps=1)' --data a.csv --neighbour b.csv\n"
        "         tailproof audit mymodule:sgd --claim 'approx(eps=1,delta=1e-5)' --pairs mymodule:pairs --sequential\n"
        "         tailproof audit --command './noisy-mean' --claim 'gdp(mu=1)' --data a.csv\n\n"
        "Without a neighbour it searches for bad ones itself: of the data in --data, or of --records by --columns in --bounds.\n"
        "A claim is about all data that are admissible, so without --bounds outliers of any size are tried.\n\n"
        "Exit 1 when the claim is violated, 2 when the function failed before a verdict was reached; what was found until then\n"
        "is reported.  Nothing ever says private: `consistent` means not refuted by so many runs.",
    )
    audit.add_argument(
        "mechanism", metavar="MODULE:FUNCTION", nargs="?", help="f(data, rng) -> number or array, or f(data, rng, size)"
    )
    audit.add_argument(
        "--command",
        dest="program",
        metavar="PROGRAM",
        help="instead: a program in any language that answers JSON lines (docs/protocol.md)",
    )
    audit.add_argument(
        "--claim", required=True, metavar="CLAIM", help="pure(eps=1), approx(eps=1,delta=1e-5), zcdp(rho=.1) or gdp(mu=1)"
    )
    audit.add_argument("--pairs", metavar="MODULE:FUNCTION", help="a function that returns (data, neighbour) pairs")
    audit.add_argument("--data", metavar="FILE", help="CSV, LIBSVM or .npy: passed as an array of records by columns")
    audit.add_argument("--neighbour", metavar="FILE", help="the neighbouring data set; without it, one is searched")
    audit.add_argument("--records", type=int, metavar="N", help="of searched data (default 10)")
    audit.add_argument("--columns", type=int, metavar="K", help="of searched data (default: 1, 2 and 8 are tried)")
    audit.add_argument("--bounds", metavar="LOW:HIGH", help="of every number of searched data (default: none)")
    audit.add_argument("--add-remove", action="store_true", help="neighbours have one record more; else one is replaced")
    audit.add_argument(
        "--time-limit",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="for one run, or one batch if vectorised (default 60), in a process of its own; 0: in this process, no limit",
    )
    audit.add_argument("--witness", metavar="FILE", help="when the claim is violated, write what `tailproof replay` needs")
    audit.add_argument("--budget", type=int, default=100_000, metavar="N", help="runs, both sides together (default 100000)")
    audit.add_argument("--confidence", type=float, default=0.999, help="of the verdict and of the bound (default 0.999)")
    audit.add_argument("--exhaustive", action="store_true", help="go on after a refutation, for the best bound")
    audit.add_argument("--sequential", action="store_true", help=argparse.SUPPRESS)
    audit.add_argument(
        "--parameters", metavar="JSON", help="for --command: public parameters, an object sent with every request"
    )
    audit.add_argument(
        "--batch", type=int, default=1000, metavar="N", help="for --command: runs asked for in one request (default 1000)"
    )
    spread(audit)
    audit.set_defaults(jobs=1)
    audit.epilog = (
        f"{audit.epilog}\n\nA slow subject runs on many workers by --jobs (here 1 by default) or --cluster; the samples "
        "are the same."
    )
    vectors = command(
        "vectors",
        do_vectors,
        "portable test vectors: write them, or check a program in any language against them",
        "tailproof vectors export vectors\n"
        "         tailproof vectors check --command './program'\n"
        "         tailproof vectors check --command './program' --kind clipping calibration\n"
        "         tailproof vectors check \\\n"
        "             --command \"python -m tailproof.verification.vectors.subject --mutant P2.A2 'noise halved'\"\n\n"
        "check: every test is passed, failed (with the classes of bugs that it hunts) or unsupported by the program; exit 1 when\n"
        "one fails, or nothing is supported.  Without --command the files are validated, and what can be computed in a few lines\n"
        "is computed again.  Without DIR the shipped vectors are used.  docs/protocol.md says what a program is asked.",
    )
    vectors.add_argument("what", choices=["export", "check"])
    vectors.add_argument("folder", nargs="?", metavar="DIR", help="where the vectors go, or are")
    vectors.add_argument("--command", dest="program", metavar="PROGRAM", help="a program that answers JSON lines")
    vectors.add_argument("--kind", nargs="+", metavar="KIND", help="these kinds only")
    vectors.add_argument(
        "--time-limit", type=float, default=60.0, metavar="SECONDS", help="for one answer (default 60); then it is killed"
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
    planner = command(
        "plan",
        do_plan,
        "how many runs an audit needs to refute a claim, or the least violation that a number of runs finds",
        "tailproof plan --claim 'pure(eps=1)' --true 'pure(eps=1.2)' --pair laplace\n"
        "         tailproof plan --claim 'approx(eps=1,delta=1e-5)' --budget 20000 --confidence .99",
    )
    planner.add_argument("--claim", required=True, help="as for calibrate: pure(eps=1), gdp(mu=1), …")
    question = planner.add_mutually_exclusive_group(required=True)
    question.add_argument("--true", metavar="CLAIM", help="what is true instead: how many runs refute the claim?")
    question.add_argument("--budget", type=int, metavar="N", help="runs, both sides together: which violation do they find?")
    planner.add_argument("--confidence", type=float, default=0.95, help="of the audit (default 0.95)")
    planner.add_argument("--power", type=float, default=0.9, help="probability of refuting the claim (default 0.9)")
    planner.add_argument(
        "--pair",
        choices=["response", "laplace", "gaussian"],
        help="the laws of the truth (default: response for pure, else gaussian)",
    )
    solve = command(
        "solve",
        do_solve,
        "run a private algorithm on a CSV, .npy or LIBSVM file: prints the claim, the spend ledger and the result",
        "tailproof solve P2.A2 --data incomes.csv --columns income age --rho 0.1 --set clip=1000\n"
        "         tailproof solve P4.A1 --data trips.csv --target minutes --loss absolute --domain ball:1 --epsilon 1 \\\n"
        "             --moment-order 2 --moment-bound 3\n"
        "         tailproof solve P4.A4 --data a9a --loss logistic --domain ball:10 --epsilon 1 \\\n"
        "             --set weight=0.1 lipschitz=20 reading=B\n"
        "         tailproof solve P0.A3 --data a9a --loss logistic --domain ball:5 --epsilon 1 --delta 1e-5 \\\n"
        "             --moment-order 8 --moment-bound 3.75 --record-smoothness 3.6\n\n" + SOLVE_HELP,
        secret=True,
    )
    solve.add_argument(
        "id", metavar="ID", help="a mean estimator, or an optimiser: P4.A1, P4.S2, P4.S1, P4.A2, P4.A4, P4.D4, or see below"
    )
    solve.add_argument("--data", required=True, metavar="FILE", help="CSV or LIBSVM (also .gz), or .npy")
    solve.add_argument("--columns", nargs="+", metavar="NAME", help="columns to use (default: all, without the target)")
    solve.add_argument(
        "--target", metavar="COLUMN", help="the target or label (default: the last column; LIBSVM: the label)"
    )
    solve.add_argument("--positive", metavar="VALUE", help="the label that stands for 1; the other one stands for -1")
    solve.add_argument("--intercept", action="store_const", const=True, help="add a feature that is 1; it counts in G, too")
    solve.add_argument("--features", type=int, metavar="D", help="features of a LIBSVM file (default: its largest index)")
    solve.add_argument(
        "--shuffle",
        action=argparse.BooleanOptionalAction,
        help="P4.A1: use the records in random order (the default), as its bound is for an order that means nothing",
    )
    solve.add_argument(
        "--loss", metavar="NAME", help="absolute, affine, hinge, l4, logistic, quadratic, relu, squared, ridge:W:NAME"
    )
    solve.add_argument("--domain", metavar="SET", help="where the weights may lie: ball:RADIUS, box:LOW,HIGH or l1:RADIUS")
    for name in ("epsilon", "delta", "rho"):
        solve.add_argument(f"--{name}", type=float)
    solve.add_argument("--moment-order", type=float, metavar="K", help="k >= 2 of the assumption on the data, see below")
    solve.add_argument("--moment-bound", type=float, metavar="G", help="G of the assumption on the data, see below")
    solve.add_argument("--preset", choices=["theory", "tuned"], help="which parameters the public numbers make, see below")
    for name, text in SOLVE_NUMBERS.items():
        solve.add_argument(f"--{name}", type=int if name == "true-sparsity" else float, metavar="X", help=text)
    solve.add_argument("--failure", type=float, metavar="Z", help="P4.A1: a bound that holds but for this probability")
    solve.add_argument("--weights", metavar="OUT.json", help="write weights, plan, claim and parameters to this file")
    solve.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="further parameters of the algorithm"
    )
    trial = command(
        "experiment",
        do_experiment,
        "an experiment of a paper: table with intervals and plots; without a name, the list of them",
        "tailproof experiment p0-logistic --data a9a --test a9a.t --plot a9a.png\n"
        "         tailproof experiment p0-l4 --data w7a --test w7a.t --row-norm 10.68 --hindsight\n"
        "         tailproof experiment p1-ridge --data adult.data --test adult.test --runs 5\n\n" + EXPERIMENT_HELP,
    )
    trial.add_argument("name", nargs="?", metavar="NAME", help="p0-l4, p0-logistic, p0-l1-ball, p1-ridge or p1-logistic")
    trial.add_argument(
        "--data", action="append", metavar="TRAIN", help="LIBSVM, CSV or UCI's Adult (also .gz); may be repeated"
    )
    trial.add_argument("--test", action="append", metavar="TEST", help="as many as --data; without, a fifth is held out")
    trial.add_argument("--features", type=int, metavar="D", help="features of a LIBSVM file (default: its largest index)")
    trial.add_argument("--runs", type=int, metavar="R", help="runs at every point (default 10, with --quick 2)")
    trial.add_argument("--epsilon", type=float, nargs="+", metavar="E", help="P0: the budgets of the sweep; P1: the budget")
    trial.add_argument("--n", type=int, nargs="+", metavar="N", help="the sizes of the sweep over n")
    trial.add_argument("--row-norm", type=float, metavar="R", help="a public bound of a row's norm (default: sqrt(14))")
    trial.add_argument(
        "--moment-bound", type=float, metavar="G", help="P0: of the gradients (default: what the norms allow)"
    )
    trial.add_argument("--steps", type=int, default=400, metavar="T", help="P0: of a phase of LNC-GM; free of privacy (400)")
    trial.add_argument("--domain", metavar="SET", help="where the weights may lie (default: P0 ball:1 or l1:1, P1 ball:2)")
    trial.add_argument("--ridge", type=float, default=0.01, metavar="W", help="weight of the penalty (default 0.01)")
    trial.add_argument("--metric", choices=["loss", "excess", "mse", "errors"], default="loss", help="what is tested")
    trial.add_argument("--hindsight", action="store_true", help="P0: also the best of a grid, by the test loss: not private")
    trial.add_argument("--quick", action="store_true", help="tiny sizes, to try a command")
    trial.add_argument("--plot", metavar="FILE", help="draw the curves (.png, .svg or .pdf)")
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
    from tailproof.refimpl.validation import InputError

    arguments = parser().parse_args(argv)
    try:
        code: int = arguments.action(arguments)
    except InputError as error:
        print(f"tailproof {arguments.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stopped:
        print(f"tailproof {arguments.command}: {stopped or 'interrupted'}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 0
    return code


if __name__ == "__main__":
    raise SystemExit(main())
