"""Rivals take turns in one run, so that both meet the same machine: what counts is the ratio of the
rates of one round, and of those the median. Bare times hold for no other machine.
"""

import statistics
import time
from typing import Callable, NamedTuple


now = time.perf_counter


class Rival(NamedTuple):
    name: str
    rows: int  # left rows of one run
    run: Callable[[], float]  # runs once; gives its seconds


def race(rivals, rounds):
    """-> rates[rival][round] in left rows a second. Each rival warms up once first."""
    rates = [[] for _ in rivals]
    for round_number in range(rounds + 1):
        for place, rival in enumerate(rivals):
            seconds = rival.run()
            if round_number > 0:
                rates[place].append(rival.rows / seconds)
    return rates


def print_race(title, rivals, rates, notes=(), unit="queries/s"):
    """The first rival against each of the others."""
    print(f"\n{title}")
    width = max(len(rival.name) for rival in rivals)
    for place, (rival, own) in enumerate(zip(rivals, rates)):
        median = statistics.median(own)
        line = f"  {rival.name:<{width}}  {median:>10,.0f} {unit}"
        if place > 0:
            ratios = [first / other for first, other in zip(rates[0], own)]
            line += (f"   {rivals[0].name} is {statistics.median(ratios):.2f}x"
                     f" ({min(ratios):.2f} to {max(ratios):.2f})")
        if notes:
            line += f"   {notes[place]}"
        print(line, flush=True)
