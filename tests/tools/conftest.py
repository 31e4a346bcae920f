"""A small git tree that a test of a check can fill with good and bad files."""

import subprocess

import pytest


class SmallTree:
    def __init__(self, root):
        self.root = root
        subprocess.run(["git", "init", "--quiet", root], check=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def tree(tmp_path):
    return SmallTree(tmp_path)
