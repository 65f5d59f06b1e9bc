"""Files beside a transcript, named by the digest of what they hold. Write-once; redacted before they are named."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from droidpilot.core.errors import TranscriptError, UsageError
from droidpilot.transcript import files
from droidpilot.transcript.redaction import Redactor

MAX_BYTES = 64 * 1024 * 1024
_SUFFIX = re.compile(r"[a-z0-9]{1,8}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def is_digest(text: str) -> bool:
    """Tell whether `text` can name an artifact; a transcript that was written over may say anything."""
    return _DIGEST.fullmatch(text) is not None


class ArtifactStore:
    """The artifacts of one session directory."""

    def __init__(self, directory: Path, *, redactor: Redactor) -> None:
        self.directory = directory / files.ARTIFACTS
        self._redactor = redactor
        self._known: set[str] = set()

    def put(self, data: bytes, suffix: str) -> str:
        """Keep `data` without its secrets and return the digest that names it; the file is whole or not there.

        Raises TranscriptError where it cannot be written.
        """
        if not _SUFFIX.fullmatch(suffix):
            raise TranscriptError(f"an artifact's suffix must be a short word, not {suffix!r}")
        kept = self._redactor.data(data)
        if len(kept) > MAX_BYTES:
            raise TranscriptError(f"an artifact of {len(kept)} bytes is more than is kept", hint="shorten it first")
        digest = hashlib.sha256(kept).hexdigest()
        if digest in self._known:
            return digest
        path = self.directory / f"{digest}.{suffix}"
        try:
            if not self._known:
                files.make_directory(self.directory)
            if not path.exists():
                files.replace(path, kept, is_synced=False)
        except OSError as error:
            raise TranscriptError(f"cannot write {path}: {error}", hint="is the disk full?") from error
        self._known.add(digest)
        return digest

    def path_of(self, digest: str) -> Path | None:
        """Return the file that the digest names, None where it was not kept or is gone."""
        if not is_digest(digest):
            raise UsageError(f"{digest!r} is not the digest of an artifact", hint="it has 64 hexadecimal digits")
        return (
            next(iter(sorted(self.directory.glob(f"{digest}.[a-z0-9]*[a-z0-9]"))), None)
            if self.directory.is_dir()
            else None
        )

    def get(self, digest: str) -> bytes:
        """Read an artifact back. Raises UsageError where it is gone, or is not what its name says."""
        path = self.path_of(digest)
        if path is None:
            raise UsageError(f"there is no artifact {digest}", hint="it may have been pruned")
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error}", hint="check who owns it") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise UsageError(
                f"{path} was changed since it was written", hint="do not trust it", code="artifact_changed"
            )
        return data
