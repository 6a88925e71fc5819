"""Random edits of the algorithms, and what `verify` and the unit tests say of them.

    python benchmarks/mutation.py                          judge what is not judged yet, then print the table
    python benchmarks/mutation.py --table                  print it from what is kept
    python benchmarks/mutation.py --only P2.A2 --sample 5  five edits of one row
    python benchmarks/mutation.py --missed                 ask again only about what was missed, or never judged
    python benchmarks/mutation.py --tree PATH --results F  another tree of the repository, such as an older commit

The edits stand in mutation_frame.jsonl: they were drawn, from the statements that a row's mechanism executes, before any cure.
Each goes through random settings first: one that changes no transcript there is equivalent.  `verify` is asked about the others:
the edit's row alone, at the quick effort.  The unit tests are asked about what it misses.  Answers are kept in
mutation_results.jsonl, with a digest of the code that gave them, and are not asked for twice.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from mutating import testing
from mutating.apart import Yard, ask, copied, prepared
from mutating.kept import Json, Kept, digest, drawn, fates, table

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "mutation_results.jsonl"
LEAST_SECONDS, TIMES_HONEST = 60.0, 8.0  # how long verify may take of an edit
RECORDING = 600.0  # seconds for a row's random settings


def main() -> int:
    options = _options()
    kept = Kept(options.results)
    edits = [edit for row in _rows(options.only) for edit in _of(row)[: options.sample]]
    everything, unsettled = edits, {fate.edit["edit"] for fate in fates(kept, edits) if not fate.judged or fate.missed}
    if options.missed:
        edits = [edit for edit in edits if edit["edit"] in unsettled]
    if not options.table:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that folders and forks are cleared away
        prepared()
        with tempfile.TemporaryDirectory() as folder:
            _judge_all(edits, kept, options, Path(folder))
        kept = Kept(options.results)
        kept.tidy()
    print(table(fates(kept, everything)))
    stale = kept.stale(everything, _digests(options.tree))
    if stale:
        print(f"\n{stale} of these answers were given by other code than there is now.")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="ROW")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sample", type=int, metavar="K", help="the first K edits of each row")
    parser.add_argument("--missed", action="store_true", help="only edits that verify missed, or that were never judged")
    parser.add_argument("--table", action="store_true", help="judge nothing")
    parser.add_argument("--no-tests", action="store_true", help="do not ask the unit tests")
    parser.add_argument(
        "--tests-of-killed", type=int, default=0, metavar="K", help="ask them about K a row that verify kills"
    )
    parser.add_argument("--tree", type=Path, default=HERE.parent)
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args()


def _rows(only: list[str] | None) -> list[str]:
    rows = list(dict.fromkeys(edit["row"] for edit in drawn()))
    unknown = set(only or ()) - set(rows)
    if unknown:
        sys.exit(f"unknown rows: {', '.join(sorted(unknown))}; there are {', '.join(rows)}")
    return only or rows


def _of(row: str) -> list[Json]:
    return [edit for edit in drawn() if edit["row"] == row]


def _judge_all(edits: list[Json], kept: Kept, options: argparse.Namespace, folder: Path) -> None:
    """A worker takes one row after the other, in a copy of the tree of its own."""
    rows = list(dict.fromkeys(edit["row"] for edit in edits))
    if options.jobs == 1:
        yard = copied(options.tree, folder / "0")
        for row in rows:
            _judge_row(row, [edit for edit in edits if edit["row"] == row], kept, options, yard)
        return
    with ProcessPoolExecutor(options.jobs, get_context("fork")) as pool:
        futures: list[Future[None]] = []
        for row in rows:
            mine = [edit for edit in edits if edit["row"] == row]
            futures.append(pool.submit(_judge_row_in, folder / row, row, mine, kept, options))
        for future in futures:
            future.result()


def _judge_row_in(root: Path, row: str, edits: list[Json], kept: Kept, options: argparse.Namespace) -> None:
    _judge_row(row, edits, kept, options, copied(options.tree, root))


def _judge_row(row: str, edits: list[Json], kept: Kept, options: argparse.Namespace, yard: Yard) -> None:
    judged = _Row(row, edits, kept, yard, _digests(yard.root))
    judged.verify()
    judged.published()
    if not options.no_tests:
        judged.tests(options.tests_of_killed)


def _digests(tree: Path) -> dict[str, str]:
    """Of the code that answers each question."""
    return {
        "verify": digest(tree, ("refimpl", "verification", "bounds"), ("judging",)),
        "equivalence": digest(tree, ("refimpl",), ("equivalence",)),
        "published": digest(tree, ("refimpl", "verification"), ("equivalence", "agreement")),
        "tests": digest(tree, ("refimpl", "tests/refimpl", testing.VECTORS), ("testing",)),
    }


class _Row:
    """The questions about a row's edits, in order."""

    def __init__(self, row: str, edits: list[Json], kept: Kept, yard: Yard, by: dict[str, str]) -> None:
        self.row, self.edits, self.kept, self.yard, self.by = row, edits, kept, yard, by
        self._places: Json | None = None

    def verify(self) -> None:
        """Random settings, then, of what differs there, verify."""
        unknown = {edit["edit"] for edit in self._unasked("equivalence", self.edits)}
        same = {edit["edit"] for edit in self.edits if edit["edit"] not in unknown and self._equivalent(edit)}
        wanted = [edit for edit in self._unasked("verify", self.edits) if edit["edit"] not in same]
        if not wanted:
            return
        honest = ask(self.yard, "judging:verdict", self.row, seconds=1800)
        if honest.get("status") != "survived":
            print(f"{self.row}: not judged, verify fails without any edit: {honest}", file=sys.stderr, flush=True)
            return
        seconds = LEAST_SECONDS + TIMES_HONEST * honest["seconds"]
        with tempfile.NamedTemporaryFile() as file:
            recorded = ask(self.yard, "equivalence:record", self.row, file.name, RECORDING, seconds=1800)
            for edit in wanted:
                source = self._edited(edit)
                if source is None:
                    self._add(edit, "verify", {"status": "moved", "failing": [], "detail": "no such code any more"})
                    continue
                known = None if edit["edit"] in unknown else False
                with self.yard.edited(edit["module"], source):
                    found = ask(self.yard, "judging:judged", self.row, file.name, known, seconds=seconds)
                self._enter(edit, found, known, recorded.get("settings", 0))

    def published(self) -> None:
        """Of what verify misses: whether it is within what is published."""
        wanted = self._unasked("published", [edit for edit in self.edits if self._status(edit) == "survived"])
        if not wanted:
            return
        with tempfile.NamedTemporaryFile() as file, tempfile.NamedTemporaryFile() as declared:
            ask(self.yard, "equivalence:record", self.row, file.name, RECORDING, seconds=1800)
            agreed = ask(self.yard, "agreement:agreeing", self.row, file.name, declared.name, seconds=1800)
            for edit in wanted:
                with self.yard.edited(edit["module"], self._source(edit)):
                    found = ask(self.yard, "agreement:agrees", self.row, declared.name, seconds=600)
                if "failed" in found or "failed" in agreed:
                    found = {"agrees": False, "settings": 0, "detail": found.get("detail", "")}
                self._add(edit, "published", found)

    def _enter(self, edit: Json, found: Json, known: bool | None, settings: int) -> None:
        if "failed" in found:
            found |= {
                "verify": _failed(found),
                "equivalence": {"equivalent": False, "settings": 0, "detail": found["detail"]},
            }
        if known is None:
            self._add(edit, "equivalence", found["equivalence"] | {"of": settings})
        if found["verify"] is not None:
            self._add(edit, "verify", found["verify"] | {"seconds": found["seconds"]})

    def tests(self, of_killed: int) -> None:
        missed = [edit for edit in self.edits if self._status(edit) == "survived"]
        killed = [edit for edit in self.edits if self._status(edit) == "killed"]
        already: dict[tuple[str, ...], list[str]] = {}
        own = _own_module(self.edits)
        for edit in self._unasked("tests", [*missed, *killed[:of_killed]]):
            files = testing.tests_of(self.yard, [own, edit["module"]])
            if tuple(files) not in already:
                already[tuple(files)] = testing.failing_already(self.yard, files)
            with self.yard.edited(edit["module"], self._source(edit)):
                self._add(edit, "tests", testing.asked(self.yard, files, already[tuple(files)]))

    def _equivalent(self, edit: Json) -> bool:
        return bool((self.kept.get(self.row, edit["edit"], "equivalence") or {}).get("equivalent"))

    def _status(self, edit: Json) -> str:
        said = {} if self._equivalent(edit) else self.kept.get(self.row, edit["edit"], "verify") or {}
        return str(said.get("status", ""))

    def _unasked(self, question: str, edits: Iterable[Json]) -> list[Json]:
        return [edit for edit in edits if self.kept.get(self.row, edit["edit"], question, self.by[question]) is None]

    def _add(self, edit: Json, question: str, answer: Json) -> None:
        self.kept.add(self.row, edit["edit"], question, self.by[question], answer)
        said = answer.get("status") or str(answer.get("equivalent", answer.get("agrees")))
        first = ", ".join(answer.get("failing", [])[:3])
        print(
            f"{time.strftime('%H:%M:%S')} {self.row} {question}: {said} {first}  {edit['text'][:60]} → {edit['new'][:60]}",
            file=sys.stderr,
            flush=True,
        )

    def _edited(self, edit: Json) -> bytes | None:
        if self._places is None:
            names = [one["edit"] for one in self.edits]
            self._places = ask(self.yard, "locating:located", self.row, names, seconds=1800)
        place: Any = self._places.get(edit["edit"])
        if place is None:
            return None
        source = self.yard.file_of(edit["module"]).read_bytes()
        return source[: place["start"]] + place["new"].encode() + source[place["end"] :]

    def _source(self, edit: Json) -> bytes:
        source = self._edited(edit)
        assert source is not None
        return source


def _failed(found: Json) -> Json:
    """One that did not end or died is apart; one at whose import something is raised crashes."""
    return {
        "status": "crashed" if found["failed"] == "raised" else found["failed"],
        "failing": [],
        "detail": found["detail"],
    }


def _own_module(edits: list[Json]) -> str:
    """Most edits of a row are in its own module."""
    modules = [edit["module"] for edit in edits]
    return max(modules, key=modules.count)


if __name__ == "__main__":
    sys.exit(main())
