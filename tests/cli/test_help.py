"""What a newcomer meets first: help, mistyped words, an instruction set that isn't there, a memory
limit that is too small."""

import json
import os
import re

import pytest

COMMANDS = ["join", "search", "tune", "explain", "info", "scan", "index create", "index check"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_is_its_own_help(kinjo, command):
    words = command.split()
    assert kinjo("help", *words).stdout == kinjo(*words, "--help").stdout
    assert f"usage: kinjo {command} " in kinjo("help", *words).stdout


def test_help_alone_is_the_programs(kinjo):
    assert kinjo("help").stdout == kinjo("--help").stdout == kinjo("help", "--help").stdout
    assert "kinjo help COMMAND" in kinjo("help").stdout


@pytest.mark.parametrize("words, wrong", [
    (["jion"], "unknown command 'jion'; did you mean join?"),
    (["help", "serach"], "unknown command 'serach'; did you mean search?"),
    (["help", "frobnicate"], "unknown command 'frobnicate' (kinjo --help"),
    (["index"], "'index' needs one of: create, list, optimize, drop, rename, check"),
    (["index", "mkae"], "'index' needs one of: create"),
    (["index", "create"], "DATASET is needed"),
    (["index", "create", "--tpye", "x"], "unknown flag --tpye; did you mean --type?"),
    (["help", "join", "more"], "unexpected argument 'more'"),
    (["join", "--refine_factor", "3"], "unknown flag --refine_factor; did you mean --refine-facto"),
    (["join", "--nprobe=3"], "unknown flag --nprobe; did you mean --nprobes?"),
    (["join", "--frobnicate"], "unknown flag --frobnicate (kinjo join --help"),
    (["--versoin"], "unknown flag --versoin; did you mean --version?"),
])
def test_mistyped_words_get_a_suggestion(kinjo, words, wrong):
    done = kinjo(*words, exit_code=2)
    assert done.stdout == ""
    assert done.stderr.startswith("kinjo: ")
    assert wrong in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture
def sides(tables):
    return ["--left", tables / "left.parquet", "--right", tables / "right.lance"]


def runs(command, tables, sides):
    return {"join": ["join", *sides], "explain": ["explain", *sides],
            "search": ["search", tables / "right.lance", "--query", tables / "left.parquet"],
            }[command]


@pytest.mark.parametrize("command", ["join", "search", "explain"])
def test_an_instruction_set_that_is_not_there(kinjo, tables, sides, command):
    levels = json.loads(kinjo("info", "--cpu", "--json").stdout)["simd_levels"]
    done = kinjo(*runs(command, tables, sides), exit_code=1,
                 env=os.environ | {"KINJO_SIMD": "bogus"})
    assert done.stdout == ""
    assert done.stderr == (
        f"kinjo: {command}: KINJO_SIMD is 'bogus', which is no instruction set that Kinjo has code "
        f"for; here there are: {', '.join(levels)} (leave it unset for the best)\n")


def test_an_instruction_set_that_is_there(kinjo, tables, sides):
    level = json.loads(kinjo("info", "--cpu", "--json").stdout)["simd_levels"][-1]
    for name in (level, ""):
        kinjo(*runs("explain", tables, sides), env=os.environ | {"KINJO_SIMD": name})


def test_info_tells_the_instruction_sets_also_when_another_is_named(kinjo):
    done = kinjo("info", "--cpu", env=os.environ | {"KINJO_SIMD": "bogus"})
    assert "KINJO_SIMD" in done.stdout


@pytest.mark.parametrize("flags", [[], ["-k", 700, "--refine-factor", 3], ["--index", "never"],
                                   ["--threads", 1, "--where", "id > 4"],
                                   ["--threads", 1, "--recall", 0.9]], ids=str)
def test_the_smallest_memory_limit_can_be_pasted(kinjo, sides, tmp_path, flags):
    output = tmp_path / "out.csv"
    done = kinjo("join", *sides, *flags, "--memory-limit", "10KB", "-o", output, exit_code=3)
    smallest = re.search(r"the smallest that would do is (\S+) \(", done.stderr)[1]
    assert done.stderr.startswith("kinjo: join: --memory-limit 10000 bytes is too small for this")
    kinjo("join", *sides, *flags, "--memory-limit", smallest, "-o", output)
    # Rounded up, and no more than that.
    less = f"{float(smallest[:-3]) - 0.2:.1f}{smallest[-3:]}"
    kinjo("join", *sides, *flags, "--memory-limit", less, "-o", output, exit_code=3)


def test_sizes_may_have_a_space(kinjo, sides):
    plan = kinjo("explain", *sides, "--memory-limit", "1.5 GiB").stdout
    assert " of 1.5 GiB, " in plan


@pytest.mark.parametrize("output, wrong", [
    ("there", "can't write there: it is a folder; name a file in it, such as there/rows.parquet"),
    ("there/", "can't write there/: it names a folder; name a file in it, such as there/rows.par"),
    ("nowhere/out.csv", "; make it first"),
    ("file/out.csv", " is not a folder"),
])
def test_the_output_is_looked_at_before_any_work(kinjo, tmp_path, output, wrong):
    # The sides aren't there either, and nobody has come to look for them.
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("mine")
    flags = ["--format", "csv"] if output.startswith("there") else []
    done = kinjo("join", "--left", "no.parquet", "--right", "no.lance", "-o", output, *flags,
                 exit_code=1, cwd=tmp_path)
    assert wrong in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "there"]
