"""`tailproof vectors`: write the vectors, or check a program against them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tailproof.refimpl.validation import InputError, known, positive
from tailproof.verification.vectors.reader import Malformed, Report, check_command, load, recompute, wanted

SHIPPED = Path(__file__).parent / "data"


def export(folder: str) -> tuple[int, dict[str, Any], str]:
    """(exit code, JSON value, text)"""
    from tailproof.verification.vectors.export import write  # which imports all algorithms

    written = write(Path(folder))
    size = sum((Path(folder) / name).stat().st_size for name in written)
    return 0, {"folder": folder, "files": written, "bytes": size}, f"{len(written)} files, {size} bytes, in {folder}"


def check(
    program: str | None, *, folder: str | None, kinds: list[str] | None, time_limit: float
) -> tuple[int, dict[str, Any], str]:
    """The files alone, or a program's answers too: 1 if any is wrong."""
    limit = positive("time_limit", time_limit)
    documents = _documents(SHIPPED if folder is None else Path(folder), kinds)
    counts, wrong = recompute(documents)
    total = sum(len(document["tests"]) for document in documents)
    value: dict[str, Any] = {"tests": total, "recomputed": counts, "wrong": wrong}
    lines = [
        f"{total} tests; {sum(counts.values())} of the expected answers computed again",
        *(f"WRONG {line}" for line in wrong),
    ]
    if program is None:
        return (1 if wrong else 0), value, "\n".join(lines)
    report = _asked(documents, program, limit)
    value |= {"command": program, **report.to_json()}
    if not report.passed and not report.failures:
        lines.append("NOTHING CHECKED: the program supports none of these kinds")
    lines.append(str(report))
    return (1 if wrong or report.failures or not report.passed else 0), value, "\n".join(lines)


def _documents(folder: Path, kinds: list[str] | None) -> list[dict[str, Any]]:
    if not folder.is_dir():
        raise InputError(f"folder = {str(folder)!r}: there is no such folder")
    try:
        documents = load(folder)
        there = sorted({document["kind"] for document in documents})
        chosen = [known("kind", kind, there, f"the kinds are {', '.join(there)}") for kind in kinds or []]
        return wanted(documents, chosen)
    except Malformed as error:
        raise InputError(f"vectors = {str(folder)!r}: {error}") from None


def _asked(documents: list[dict[str, Any]], program: str, limit: float) -> Report:
    try:
        return check_command(documents, program, time_limit=limit)
    except ValueError as error:
        raise InputError(f"command = {program!r}: {error}") from None
    except OSError as error:
        raise InputError(f"command = {program!r}: cannot be started ({error.strerror or error})") from None
