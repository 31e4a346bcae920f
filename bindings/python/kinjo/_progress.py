"""How far a join is: passed on to the caller's function, or shown as a bar, on a terminal's
standard error or in a notebook. Standard output is never written to."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, NamedTuple, TextIO


class Progress(NamedTuple):
    """What a progress function is called with, a few times a second at most."""

    done_rows: int
    """Left rows that are done."""
    total_rows: int | None
    """Left rows in all, where that is known."""
    elapsed_s: float
    rows_per_s: float
    remaining_s: float | None
    """At this rate, where that is known."""


_SHOWN_AFTER_S = 0.5
_WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def _bar(share: float) -> str:
    full, rest = divmod(int(share * _WIDTH * 8), 8)
    drawn = "█" * full + (_EIGHTHS[rest] if full < _WIDTH else "")
    return f"|{drawn.ljust(_WIDTH)}|"


def line_of(progress: Progress, bar: Callable[[float], str] = _bar) -> str:
    """One line that tells everything, as tqdm lays it out."""
    speed = f"{progress.rows_per_s:,.0f} rows/s"
    clock = _clock(progress.elapsed_s)
    if progress.total_rows is None:
        return f"join: {progress.done_rows:,} rows [{clock}, {speed}]"
    share = progress.done_rows / progress.total_rows if progress.total_rows else 1.0
    left = "?" if progress.remaining_s is None else _clock(progress.remaining_s)
    counts = f"{progress.done_rows:,}/{progress.total_rows:,} rows"
    return f"join: {int(share * 100):3}%{bar(share)} {counts} [{clock}<{left}, {speed}]"


class TerminalBar:
    """A line that is drawn over itself."""

    def __init__(self, stream: TextIO, shown_after_s: float = _SHOWN_AFTER_S):
        self._stream = stream
        self._shown_after_s = shown_after_s
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        if progress.elapsed_s < self._shown_after_s and not self._width:
            return
        line = line_of(progress)
        self._stream.write("\r" + line.ljust(self._width))
        self._stream.flush()
        self._width = len(line)
        if progress.done_rows == progress.total_rows:
            self.close()

    def close(self) -> None:
        """Leaves the line as it is and begins another."""
        if self._width:
            self._stream.write("\n")
            self._stream.flush()
            self._width = 0


class NotebookBar:
    """An element of a notebook's output that is updated."""

    def __init__(self, display: Callable[..., Any], html: Callable[[str], Any],
                 shown_after_s: float = _SHOWN_AFTER_S):
        self._display, self._html = display, html
        self._shown_after_s = shown_after_s
        self._handle: Any = None

    def __call__(self, progress: Progress) -> None:
        if progress.elapsed_s < self._shown_after_s and self._handle is None:
            return
        line = escape(line_of(progress, bar=lambda share: ""))
        bounds = f"max='{progress.total_rows}' value='{progress.done_rows}'"
        bar = f"<progress {bounds if progress.total_rows else ''}></progress> <code>{line}</code>"
        if self._handle is None:
            self._handle = self._display(self._html(bar), display_id=True)
        else:
            self._handle.update(self._html(bar))

    def close(self) -> None:
        self._handle = None


def _notebook_bar(shown_after_s: float) -> NotebookBar | None:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import HTML, display

    return NotebookBar(display, HTML, shown_after_s)


def shower(progress: Any) -> Any:
    """What shows or takes the progress of a run: the caller's function, a bar (always for True; for
    None where somebody looks and it takes a while), or None."""
    if progress is False:
        return None
    if callable(progress):
        return progress
    if progress is not None and progress is not True:
        raise TypeError("progress must be None, True, False or a function")
    shown_after_s = 0.0 if progress else _SHOWN_AFTER_S
    notebook = _notebook_bar(shown_after_s)
    if notebook is not None:
        return notebook
    if progress or (sys.stderr is not None and sys.stderr.isatty()):
        return TerminalBar(sys.stderr, shown_after_s)
    return None


def caller(show: Any) -> Any:
    """What the native library calls, for what `shower` gave."""
    if show is None:
        return None
    return lambda *told: show(Progress(*told))


@contextmanager
def showing(progress: Any) -> Iterator[Any]:
    """What the native library calls during one piece of work; a bar is left behind at its end."""
    show = shower(progress)
    try:
        yield caller(show)
    finally:
        if hasattr(show, "close"):
            show.close()
