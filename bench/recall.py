"""What a recall target costs: a join that chooses and measures for it, against one that is told the
same settings. At most a fifth of the time of a join of 10,000 rows may go into that.
"""

from pathlib import Path

import pyarrow.parquet as pq

from bench import data, ivf_pq, paired
from demo import words

TARGETS = (0.9, 0.95, 0.98)


def flags_of(chosen):
    """The settings of a report as flags of a join that does the same."""
    flags = ["--minimum-nprobes", chosen["nprobes"], "--search-effort", 0]
    if chosen["refine_factor"]:
        flags += ["--refine-factor", chosen["refine_factor"]]
    return flags


def run(folder: Path, rounds: int, threads: int):
    words.make()
    left_rows = pq.read_metadata(words.LEFT).num_rows
    oracle = ivf_pq.Kinjo(folder, threads, "--index", "never")
    oracle.run()
    exact = oracle.found(left_rows)
    for target in TARGETS:
        asked = ivf_pq.Kinjo(folder, threads, "--index", "require", "--recall", target)
        chosen = asked.report()["recall"]
        reached = data.recall(asked.found(left_rows), exact)
        told = ivf_pq.Kinjo(folder, threads, "--index", "require", *flags_of(chosen))
        rivals = [paired.Rival(f"told the settings of recall {target}", left_rows, told.run),
                  paired.Rival(f"recall {target}", left_rows, asked.run)]
        rates = paired.race(rivals, rounds)
        shares = sorted(1 - slow / fast for fast, slow in zip(*rates))
        notes = [f"nprobes {chosen['nprobes']}, refine factor {chosen['refine_factor']}",
                 f"recall@{ivf_pq.K} {reached:.4f}, reported {chosen['recall']:.4f}"
                 f" ({chosen['low']:.4f} to {chosen['high']:.4f})"]
        paired.print_race(f"recall target {target}, IVF_PQ, {left_rows:,} left rows, {threads} "
                          "threads", rivals, rates, notes)
        print(f"  choosing and measuring: {shares[len(shares) // 2]:.1%} of the time"
              f" ({shares[0]:.1%} to {shares[-1]:.1%})", flush=True)
