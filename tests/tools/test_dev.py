"""./dev: its verbs, from any folder and with next to no environment."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERBS = ("setup", "build", "demo", "test", "python", "check", "fmt", "bench", "memory", "fuzz", "ci")


def dev(*words, **options):
    return subprocess.run([ROOT / "dev", *words], capture_output=True, text=True, **options)


@pytest.mark.parametrize("words", [[], ["help"], ["--help"]])
def test_help_names_each_verb(words, tmp_path):
    bare = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = dev(*words, cwd=tmp_path, env=bare)
    assert done.returncode == 0, done.stderr
    for verb in VERBS:
        assert f"\n    {verb} " in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_explains_itself(verb):
    done = dev(verb, "--help")
    assert done.returncode == 0, done.stderr
    assert f"./dev {verb}" in done.stdout


def test_an_unknown_verb_is_refused():
    done = dev("conquer")
    assert done.returncode == 2
    assert "conquer" in done.stderr


def test_an_unknown_ci_step_is_refused():
    done = dev("ci", "--without", "sleep")
    assert done.returncode == 2
    assert "asan" in done.stderr
