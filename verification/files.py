"""Files that are there in full or not at all: written beside their place under another name, then moved there."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from tailproof.refimpl.validation import InputError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class Failed(Exception):
    """Something broke that no input asked for: the disk is full, or workers are gone.  The command ends with exit code 4."""


def write(name: str, place: str | Path, content: str | bytes) -> None:
    """The file `place`, replaced as a whole; `name` is the option that an error names.

    Links are followed, and the permissions of an earlier file stay.  What is no ordinary file, such as /dev/stdout, is
    written to directly.
    """
    data = content.encode() if isinstance(content, str) else content
    path = Path(os.path.realpath(place))
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb", buffering=0) as file:
                file.write(data)
            return
        _replace(path, data)
    except OSError as error:
        raise failure(name, place, error) from None


def make_folder(name: str, folder: Path) -> None:
    """The folder and those above it, unless they exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in _FULL:
            raise failure(name, folder, error) from None
        raise InputError(f"{name} = {str(folder)!r}: could not make this folder ({error.strerror})") from None


def check_folder(name: str, folder: Path) -> None:
    """Before a long run: the folder is there or can be made, as far as can be told without making it."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise InputError(f"{name} = {str(folder)!r}: {str(there)!r} is a file, not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{name} = {str(folder)!r}: you may not write in {str(there)!r}")


def failure(name: str, place: str | Path, error: OSError) -> InputError | Failed:
    """What to raise when writing failed."""
    reason = error.strerror or str(error)
    if error.errno in _FULL:
        return Failed(f"{name} = {str(place)!r}: could not be written ({reason})")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return InputError(f"{name} = {str(place)!r}: there is no folder {str(Path(place).parent)!r}")
    return InputError(f"{name} = {str(place)!r}: could not be written ({reason})")


def _replace(path: Path, data: bytes) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    with suppress(OSError):  # that the folder knows the new name; some file systems cannot say
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _mode(path: Path) -> int:
    """As an earlier file had it, else as any new file gets it."""
    with suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
