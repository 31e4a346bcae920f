"""Each single call that changes the file system goes wrong once: the process dies in it, the disk
is full from then on, or it fails. What a run leaves is always something that the next one continues
to the same bytes, and a file that isn't continued is whole or not there."""

import re
import signal

import pytest

PARTS = 2
PART = re.compile(r"part-\d{5}\.parquet")


@pytest.fixture
def flags(sides):
    return (
        "join", "--left", sides / "few.parquet", "--right", sides / "right.lance", "-k", 2,
        "--refine-factor", 2, "--threads", 1, "--progress", "none",
    )  # fmt: skip


@pytest.fixture
def resumable(flags):
    return *flags, "--resume", "--part-rows", 200


def calls_of(kinjo, command, faulty, tmp_path):
    """The names of the calls of an undisturbed run, in order."""
    count = tmp_path / "calls"
    kinjo(*command, env=faulty(count=count))
    return count.read_text().split()


def check_kept(files, folder, whole):
    """Whatever is under the name of a part is the whole part."""
    if not folder.exists():
        return
    for name, content in files(folder).items():
        if PART.fullmatch(name):
            assert content == whole[name], name


def test_the_process_dies(kinjo, resumable, faulty, files, tmp_path):
    calls = calls_of(kinjo, (*resumable, "-o", tmp_path / "whole"), faulty, tmp_path)
    whole = files(tmp_path / "whole")
    assert len(whole) == PARTS + 1
    assert {"mkdir", "open", "write", "fsync", "rename"} <= set(calls)
    for number, name in enumerate(calls, start=1):
        folder = tmp_path / f"out{number}"
        command = *resumable, "-o", folder
        kinjo(*command, env=faulty("kill", number), exit_code=-signal.SIGKILL)
        check_kept(files, folder, whole)
        kinjo(*command)
        assert files(folder) == whole, f"killed in call {number}, {name}"


def test_the_process_dies_twice(kinjo, resumable, faulty, files, tmp_path):
    """Also the calls that only a continued run makes: cutting the journal, removing leftovers."""
    kinjo(*resumable, "-o", tmp_path / "whole")
    whole = files(tmp_path / "whole")
    names = set()
    for second in range(1, 9):
        folder = tmp_path / f"out{second}"
        command = *resumable, "-o", folder
        kinjo(*command, env=faulty("kill", 18), exit_code=-signal.SIGKILL)
        # A line that was torn, and a file half-written.
        with open(folder / "_kinjo.journal", "ab") as journal:
            journal.write(b'{"part":')
        (folder / ".kinjo-1-1.part").write_bytes(b"half")
        count = tmp_path / f"calls{second}"
        kinjo(*command, env=faulty("kill", second, count), exit_code=-signal.SIGKILL)
        names.update(count.read_text().split())
        check_kept(files, folder, whole)
        kinjo(*command)
        assert files(folder) == whole
    assert {"ftruncate", "unlink"} <= names


@pytest.mark.parametrize("kind, reason", [("full", "No space left"), ("io", "Input/output error")])
def test_a_call_fails(kinjo, resumable, faulty, files, tmp_path, kind, reason):
    calls = calls_of(kinjo, (*resumable, "-o", tmp_path / "whole"), faulty, tmp_path)
    whole = files(tmp_path / "whole")
    failed = 0
    for number in range(1, len(calls) + 1):
        folder = tmp_path / f"out{number}"
        command = *resumable, "-o", folder
        done = kinjo(*command, env=faulty(kind, number), exit_code=None)
        check_kept(files, folder, whole)
        if done.returncode == 0:  # syncing a folder is more than some file systems can
            assert calls[number - 1] == "fsync"
        else:
            failed += 1
            assert done.returncode == 1
            message = done.stderr.splitlines()[0]
            assert "can't write" in message
            assert str(folder) in message
            assert reason in message
            names = files(folder) if folder.exists() else []
            assert all(PART.fullmatch(name) or name == "_kinjo.journal" for name in names)
        kinjo(*command)
        assert files(folder) == whole, f"failed in call {number}"
    assert failed > len(calls) / 2


@pytest.mark.parametrize("kind", ["full", "io", "kill"])
def test_a_single_file_is_whole_or_not_there(kinjo, flags, faulty, tmp_path, kind):
    whole = tmp_path / "whole.parquet"
    calls = calls_of(kinjo, (*flags, "-o", whole), faulty, tmp_path)
    for number in range(1, len(calls) + 1):
        folder = tmp_path / f"out{number}"
        folder.mkdir()
        output = folder / "out.parquet"
        kinjo(*flags, "-o", output, env=faulty(kind, number), exit_code=None)
        if output.exists():
            assert output.read_bytes() == whole.read_bytes()
        elif kind != "kill":
            assert list(folder.iterdir()) == []
