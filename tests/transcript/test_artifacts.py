"""Artifacts: named by what they hold, written once, private, and checked when read back."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from droidpilot.core.errors import TranscriptError, UsageError
from droidpilot.transcript.artifacts import ArtifactStore
from droidpilot.transcript.redaction import Redactor


def store(directory: Path, *secrets: str) -> ArtifactStore:
    return ArtifactStore(directory, redactor=Redactor(secrets))


def test_what_was_put_comes_back(tmp_path: Path) -> None:
    digest = store(tmp_path).put(b"<hierarchy/>", "xml")
    assert digest == hashlib.sha256(b"<hierarchy/>").hexdigest()
    assert store(tmp_path).get(digest) == b"<hierarchy/>"
    assert [path.name for path in (tmp_path / "artifacts").iterdir()] == [f"{digest}.xml"]


def test_an_artifact_is_written_once(tmp_path: Path) -> None:
    digest = store(tmp_path).put(b"data", "txt")
    path = tmp_path / "artifacts" / f"{digest}.txt"
    before = path.stat().st_ino
    assert store(tmp_path).put(b"data", "txt") == digest
    assert path.stat().st_ino == before


def test_the_digest_is_of_what_was_kept(tmp_path: Path) -> None:
    digest = store(tmp_path, "hunter2").put(b"hunter2", "txt")
    assert digest == hashlib.sha256(b"[redacted]").hexdigest()


def test_a_changed_artifact_is_not_handed_out(tmp_path: Path) -> None:
    kept = store(tmp_path)
    digest = kept.put(b"data", "txt")
    (tmp_path / "artifacts" / f"{digest}.txt").write_bytes(b"other")
    with pytest.raises(UsageError, match="was changed") as caught:
        kept.get(digest)
    assert caught.value.code == "artifact_changed"


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "0" * 63, "*" * 64, "0" * 64])
def test_a_digest_that_names_nothing_is_an_error(tmp_path: Path, digest: str) -> None:
    store(tmp_path).put(b"data", "txt")
    with pytest.raises(UsageError):
        store(tmp_path).get(digest)


@pytest.mark.parametrize("suffix", ["", "../x", "XML", "a.b", "toolongsuffix"])
def test_a_suffix_is_a_short_word(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(TranscriptError):
        store(tmp_path).put(b"data", suffix)


def test_what_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_bytes(b"a file where the folder should be")
    with pytest.raises(TranscriptError, match="cannot write"):
        store(tmp_path).put(b"data", "txt")
