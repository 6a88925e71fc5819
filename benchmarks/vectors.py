"""Every mutant against the shipped vectors: which tests fail, and whether the classes of bugs they name contain the mutant's.

    python benchmarks/vectors.py                 all mutants, some minutes; writes benchmarks/vectors.json
    python benchmarks/vectors.py P2.A2 P4.S1     these algorithms only; prints, writes nothing

Exit code 1 when refimpl itself fails a test, or a mutant passes all of them or fails under other names only.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from statistics import median

from tailproof.verification.mutants import MUTANTS, Mutant
from tailproof.verification.vectors import reader
from tailproof.verification.vectors.bugs import bug_class
from tailproof.verification.vectors.command import SHIPPED
from tailproof.verification.vectors.subject import answerer, reply_to

PLACE = Path(__file__).with_suffix(".json")


def report(documents: list[dict], mutant: Mutant | None) -> reader.Report:
    """The answers pass through JSON, as over a pipe."""
    answer = answerer(mutant)
    return reader.check(documents, lambda request: reader.read_reply(reply_to(json.dumps(request), answer)))


def of_algorithm(documents: list[dict], identifier: str) -> list[dict]:
    kept = [[t for t in d["tests"] if t["id"].startswith(f"transcript/{identifier}/")] for d in documents]
    return [{**document, "tests": tests} for document, tests in zip(documents, kept, strict=True) if tests]


def main(only: list[str]) -> int:
    documents = reader.load(SHIPPED)
    honest = report(documents, None)
    rows = []
    for mutant in MUTANTS:
        if only and mutant.algorithm not in only:
            continue
        found = report(of_algorithm(documents, mutant.algorithm), mutant)
        wanted = bug_class(mutant)
        shares = {name: wrong / total for name, (wrong, total) in found.flagged.items()}
        rows.append(
            {
                "algorithm": mutant.algorithm,
                "mutant": mutant.name,
                "bug_class": wanted,
                "named": wanted in found.bug_classes,
                "first_named": wanted in shares and shares[wanted] == max(shares.values()),
                "bug_classes": found.bug_classes,
                "failures": len(found.failures),
                "first": found.failures[0].id if found.failures else None,
            }
        )
        print(
            f"{'ok ' if rows[-1]['named'] else 'BAD'} {mutant.algorithm:11}{mutant.name}: {wanted}, {len(found.failures)} failed"
        )
    missed = [row for row in rows if not row["named"]]
    by_class = Counter(row["bug_class"] for row in rows)
    print(f"refimpl: {sum(honest.passed.values())} tests passed, {len(honest.failures)} failed")
    named = median(len(row["bug_classes"]) for row in rows)
    first = sum(row["first_named"] for row in rows)
    print(f"{len(rows)} mutants, {len(missed)} not named; a mutant's failures name {named:g} classes in the median")
    print(f"the mutant's own class has the largest share of failed tests, perhaps with others, for {first}")
    print(", ".join(f"{name} {count}" for name, count in by_class.most_common()))
    if not only:
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
        counts = json.dumps(honest.to_json()["kinds"])
        text = (
            f'{{\n "refimpl": {counts},\n "mutants": {len(rows)},\n "missed": {len(missed)},\n "rows": [\n{lines}\n ]\n}}\n'
        )
        PLACE.write_text(text, encoding="utf-8")
    return 1 if missed or honest.failures else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
