"""./dev demo: join 10,000 English words to their nearest words among 400,000, through the IVF_PQ
index of a Lance dataset, and measure the recall against the exact path.
"""

import argparse
import sys

import pyarrow.compute as pc
import pyarrow.parquet as pq

from demo import program, words

K = 10
NPROBES = 80
REFINE_FACTOR = 4
LEAST_RECALL = 0.95
SHOWN_NEIGHBOURS = 5


def join_flags(output):
    return ["--left", words.LEFT, "--right", words.DATASET, "--on", "vector", "-k", K,
            "--metric", "cosine", "--left-select", "word", "--right-select", "word", "-o", output]


def pairs(path):
    """The (word, neighbour) pairs of a join's output."""
    joined = pq.read_table(path, columns=["word", "word_right"])
    return set(zip(joined["word"].to_pylist(), joined["word_right"].to_pylist()))


def recall(found, exact):
    return len(found & exact) / len(exact)


def neighbours(path, word):
    """(neighbour, distance) of one word, nearest first, without the word itself."""
    joined = pq.read_table(path, filters=pc.field("word") == word).sort_by("_rank")
    rows = zip(joined["word_right"].to_pylist(), joined["_distance"].to_pylist())
    return [(name, distance) for name, distance in rows if name != word][:SHOWN_NEIGHBOURS]


def print_neighbours(path):
    """A line a word: the word, then its neighbours with their cosine distances."""
    rows = [(word, neighbours(path, word)) for word in words.SHOWN]
    cells = [[f"{name} {distance:.3f}" for name, distance in found] for _, found in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    widest = max(len(word) for word in words.SHOWN)
    rule = "─" * (widest + 5 + sum(widths) + 3 * (len(widths) - 1))
    print(f"\n  {'word':<{widest}}  │  nearest words, with their cosine distances\n  {rule}")
    for (word, _), line in zip(rows, cells):
        padded = "   ".join(f"{cell:<{width}}" for cell, width in zip(line, widths))
        print(f"  {word:<{widest}}  │  {padded}".rstrip())
    print(f"  {rule}\n")


def parse():
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__)
    parser.add_argument("--nprobes", type=int, default=NPROBES)
    parser.add_argument("--refine-factor", type=int, default=REFINE_FACTOR)
    return parser.parse_args()


def main():
    arguments = parse()
    words.make()
    output = words.FOLDER / "neighbours.parquet"
    exact_output = words.FOLDER / "neighbours-exact.parquet"
    flags = [*join_flags(output), "--index", "require", "--nprobes", arguments.nprobes,
             "--refine-factor", arguments.refine_factor]
    print(f"$ {program.shown(['kinjo', 'join', *flags])}", flush=True)
    report, seconds = program.join(*flags)
    exact_report, exact_seconds = program.join(*join_flags(exact_output), "--index", "never")
    measured = recall(pairs(output), pairs(exact_output))

    print_neighbours(output)
    rate, exact_rate = (f"{one['left_rows'] / one['total_s']:,.0f} queries/s"
                        for one in (report, exact_report))
    print(f"  through the index   {report['total_s']:6.2f} s  {rate:>18}   "
          f"({seconds:.2f} s with start-up)   recall@{K} {measured:.4f}")
    print(f"  exact               {exact_report['total_s']:6.2f} s  {exact_rate:>18}   "
          f"({exact_seconds:.2f} s with start-up)")
    print(f"  {report['left_rows']:,} left rows, {report['result_rows']:,} result rows in "
          f"{output.relative_to(program.ROOT)}")
    if measured < LEAST_RECALL and len(sys.argv) == 1:
        raise SystemExit(f"recall@{K} is {measured:.4f}, less than {LEAST_RECALL}")


if __name__ == "__main__":
    main()
