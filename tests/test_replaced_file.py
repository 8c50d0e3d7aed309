"""Files that are replaced at once or not at all, and what is never replaced."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from localsvm import _replaced_file
from localsvm._replaced_file import replace_file, replacing_file

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes a device")


def read_in_thread(path):
    """Read all of a FIFO while another thread writes."""
    found = []
    thread = threading.Thread(target=lambda: found.append(path.read_bytes()))
    thread.daemon = True
    thread.start()
    return thread, found


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_fifo_is_written_in_place(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    thread, found = read_in_thread(path)
    replace_file(path, [b"ab", b"c"])
    thread.join()
    assert found == [b"abc"]
    assert path.is_fifo()
    assert os.listdir(tmp_path) == ["fifo"]


@needs_root
def test_a_device_is_written_in_place(tmp_path):
    path = tmp_path / "null"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("may not make a device")
    replace_file(path, [b"abc"])
    assert path.is_char_device()
    assert os.stat(path).st_rdev == os.makedev(1, 3)
    assert os.listdir(tmp_path) == ["null"]


def test_a_link_to_a_fifo_is_followed(tmp_path):
    path, link = tmp_path / "fifo", tmp_path / "link"
    os.mkfifo(path)
    link.symlink_to("fifo")
    thread, found = read_in_thread(path)
    replace_file(link, [b"abc"])
    thread.join()
    assert found == [b"abc"]
    assert path.is_fifo()
    assert link.is_symlink()


@pytest.mark.parametrize("name", ["stdout", "fd/1"])
@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_standard_output_is_written_in_place(tmp_path, name, kind):
    # Links as those of /dev, which a mistake must not replace.
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    (tmp_path / "fd").symlink_to("/proc/self/fd")
    name = str(tmp_path / name)
    code = (
        "from localsvm._replaced_file import replace_file\n"
        f"replace_file({name!r}, [b'abc'])"
    )
    command = [sys.executable, "-c", code]
    if kind == "pipe":
        found = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    else:
        path = tmp_path / "out"
        with path.open("wb") as file:
            number = path.stat().st_ino
            subprocess.run(command, check=True, stdout=file)
        assert path.stat().st_ino == number
        found = path.read_bytes()
    assert found == b"abc"
    assert (tmp_path / "stdout").is_symlink()


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"folder.*expected.*file") as raised:
        replace_file(tmp_path, [b"abc"])
    assert raised.value.filename == str(tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        replace_file(tmp_path / "none" / "f", [b"abc"])
    assert raised.value.filename == str(tmp_path / "none")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_a_replaced_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(mode)
    with replacing_file(path) as file:
        # Nobody reads more of the new file than of the old one, at any time.
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) & ~mode & 0o077 == 0
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert mode_of(path) == mode


def test_a_new_file_has_the_mode_of_the_process(tmp_path):
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "f", [b"abc"])
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "f") == 0o640


@needs_root
def test_a_replaced_file_keeps_its_owner(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    os.chown(path, 12345, 54321)
    replace_file(path, [b"new"])
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path, exists):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    target, middle, link = (
        tmp_path / "a" / "f",
        tmp_path / "b" / "middle",
        tmp_path / "link",
    )
    if exists:
        target.write_bytes(b"old")
    middle.symlink_to("../a/f")
    link.symlink_to(middle)
    replace_file(link, [b"new"])
    assert target.read_bytes() == b"new"
    assert not target.is_symlink()
    assert link.is_symlink()
    assert middle.is_symlink()
    assert os.listdir(tmp_path / "a") == ["f"]


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        replace_file(tmp_path / "a", [b"new"])


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127 + "x", "n" * 240])
def test_a_name_may_be_as_long_as_the_file_system_takes(tmp_path, name):
    for content in (b"old", b"new"):
        replace_file(tmp_path / name, [content])
        assert (tmp_path / name).read_bytes() == content
    assert os.listdir(tmp_path) == [name]


def _killed_while_writing(folder):
    code = (
        "import os, signal, sys\n"
        "from localsvm._replaced_file import replacing_file\n"
        "with replacing_file(sys.argv[1]) as file:\n"
        "    file.write(b'half')\n"
        "    file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder / "f")], check=False)
    assert done.returncode == -signal.SIGKILL


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path):
    (tmp_path / ".other.tmp").write_bytes(b"")
    for _ in range(2):
        _killed_while_writing(tmp_path)
        assert len(os.listdir(tmp_path)) == 2
    code = (
        "import sys\n"
        "from localsvm._replaced_file import replace_file\n"
        "replace_file(sys.argv[1], [b'whole'])"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "g")], check=True)
    assert sorted(os.listdir(tmp_path)) == [".other.tmp", "g"]


def test_what_another_process_still_writes_stays(tmp_path):
    code = (
        "import sys\n"
        "from localsvm._replaced_file import replace_file\n"
        "replace_file(sys.argv[1], [b'other'])"
    )
    with replacing_file(tmp_path / "f") as file:
        file.write(b"slow")
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "g")], check=True)
        assert len(os.listdir(tmp_path)) == 2
    assert sorted(os.listdir(tmp_path)) == ["f", "g"]
    assert (tmp_path / "f").read_bytes() == b"slow"


def test_a_failed_write_in_place_leaves_the_fifo(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    thread, _ = read_in_thread(path)
    with pytest.raises(ZeroDivisionError), replacing_file(path):
        _ = 1 / 0
    thread.join()
    assert path.is_fifo()


def test_a_strange_file_of_our_pattern_is_left_alone(tmp_path):
    Path(tmp_path / "f").write_bytes(b"")
    os.mkfifo(tmp_path / ".localsvm-0123456789abcdef.tmp")
    (tmp_path / ".localsvm-1123456789abcdef.tmp").symlink_to("f")
    replace_file(tmp_path / "g", [b"abc"])
    assert len(os.listdir(tmp_path)) == 4


@pytest.mark.parametrize("call", ["open", "flock", "fchmod"])
def test_an_interrupt_while_the_file_is_opened_leaves_nothing(
    call, tmp_path, monkeypatch
):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    module = _replaced_file.fcntl if call == "flock" else _replaced_file.os
    own = getattr(module, call)

    def interrupted(*arguments):
        own(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, call, interrupted)
        with pytest.raises(KeyboardInterrupt):
            _replaced_file.replace_file(path, [b"new"])
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    assert path.read_bytes() == b"old"
