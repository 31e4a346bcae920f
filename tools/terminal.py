"""How the tools speak: steps on standard error, one line each, and errors without a traceback."""

import subprocess
import sys


class Failure(Exception):
    """What a person has to read: what failed and what to try."""


def step(text):
    print(f"==> {text}", file=sys.stderr, flush=True)


def run(command, **options):
    """Runs a command to its end; its failure is a Failure that quotes it."""
    words = [str(word) for word in command]
    try:
        return subprocess.run(words, check=True, **options)
    except FileNotFoundError as error:
        raise Failure(f"{words[0]} is not installed: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        raise Failure(f"exit code {error.returncode} from: {' '.join(words)}") from error
