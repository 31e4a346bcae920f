"""tools/machine.py: lists, stamps, and telling which Debian packages are missing."""

from tools import machine


def test_lists_have_comments_and_blanks(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# why\none\n\ntwo  # because\n")
    assert machine.read_list(path) == ["one", "two"]


def test_a_stamp_is_current_only_for_its_content(tmp_path):
    stamp = tmp_path / "stamp"
    assert not machine.stamp_is_current(stamp, "a")
    stamp.write_text("a")
    assert machine.stamp_is_current(stamp, "a")
    assert not machine.stamp_is_current(stamp, "b")


def test_missing_packages():
    names = ["dpkg", "no-such-package-of-this-name"]
    assert machine.missing_packages(names) == ["no-such-package-of-this-name"]


def test_each_list_names_something():
    for path in (machine.ROOT / "tools").glob("*-*.txt"):
        assert machine.read_list(path), path


def test_python_packages_are_pinned():
    for path in (machine.ROOT / "tools").glob("requirements-*.txt"):
        assert all("==" in line for line in machine.read_list(path)), path


def test_jobs_fit_the_machine():
    assert machine.jobs() >= 1
