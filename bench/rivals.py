"""The index path against the best of the others at the same recall: faiss's IVF family, the HNSW of
faiss, hnswlib and usearch, and pylance on the same index file; the demo's words (IVF_PQ) and a
million made vectors (IVF_SQ). Every rival is given its cheapest setting that reaches Kinjo's
recall, less 0.002. A refine factor of 0 is none.

Indexes, truths and the recall of each setting that was tried are kept under build/bench/rivals: a
built index has the same recall every time. Delete the folder to begin anew.
"""

import json
import os
from pathlib import Path

import faiss
import hnswlib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from usearch.index import Index as UsearchIndex

from bench import data, paired
from demo import program, words

os.environ.setdefault("LANCE_LOG", "error")
import lance  # noqa: E402

FOLDER = program.ROOT / "build" / "bench" / "rivals"
K = 10
TARGETS = (0.90, 0.95, 0.99)
TOLERANCE = 0.002
PARTITIONS = 1024
PYLANCE_ROWS = 1_000
REFINES = (0, 1, 2, 3, 4, 6, 8, 12)
PROBES = (2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 72, 80,
          88, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512)
BREADTHS = (10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256,
            320, 384, 512, 768, 1024)


class Words:
    """The demo's words: the left ones are among the right ones. Unit vectors rank under l2 as the
    words do under cosine."""

    name = "words"
    metric = "cosine"
    dataset = words.DATASET
    left_file = FOLDER / "words-left.npy"
    factories = ("PQ25x4fs,RFlat", "RaBitQfs,RFlat", "SQ8", "Flat")

    def __init__(self):
        words.make()
        left = pq.read_table(words.LEFT)["vector"].combine_chunks().flatten().to_numpy()
        self.left = left.reshape(-1, words.DIM)
        if not self.left_file.exists():
            np.save(self.left_file, self.left)

    def vectors(self):
        return data.unit(words.load()[1]), data.unit(self.left)


class Clustered:
    """A million rows of 128 elements in clusters."""

    name = "clustered"
    metric = "l2"
    dataset = FOLDER / "clustered.lance"
    left_file = FOLDER / "clustered-left.npy"
    factories = ("PQ64x4fs,RFlat", "PQ32x4fs,RFlat", "RaBitQfs,RFlat", "SQ8", "Flat")

    def __init__(self):
        self.right, self.left = data.clustered(1_000_000, 128)
        if not self.left_file.exists():
            np.save(self.left_file, self.left)
        if not self.dataset.exists():
            self.write()

    def write(self):
        column = pa.FixedSizeListArray.from_arrays(pa.array(self.right.reshape(-1)), 128)
        unfinished = self.dataset.with_suffix(".unfinished")
        lance.write_dataset(pa.table({"vector": column}), unfinished, mode="overwrite")
        program.run("index", "create", unfinished, "--column", "vector", "--type", "IVF_SQ",
                    "--metric", self.metric, "--num-partitions", PARTITIONS)
        unfinished.rename(self.dataset)

    def vectors(self):
        return self.right, self.left


class Recalls:
    """The recall of each (rival, setting) that was ever tried."""

    def __init__(self, file, exact):
        self.file, self.exact = file, exact
        self.known = json.loads(file.read_text()) if file.exists() else {}

    def of(self, rival, setting):
        key = f"{rival.name} {setting}"
        if key not in self.known:
            found = rival.found(setting)
            exact = self.exact[: len(found)]
            hits = (found[:, :, None] == exact[:, None, :]).any(axis=1).sum()
            self.known[key] = float(hits) / exact.size
            self.file.write_text(json.dumps(self.known, indent=1))
        return self.known[key]

    def cheapest(self, rival, settings, least):
        """The first of the settings, whose recall rises, that reaches the least; None if none."""
        low, high = 0, len(settings)
        while low < high:
            middle = (low + high) // 2
            if self.of(rival, settings[middle]) >= least:
                high = middle
            else:
                low = middle + 1
        return settings[low] if low < len(settings) else None


class Kinjo:
    """The program; its seconds are those of its report: reading the left, searching, writing."""

    def __init__(self, dataset, folder, threads):
        self.name, self.dataset, self.threads = "kinjo", dataset, threads
        self.output = folder / "found.arrow"

    def seconds(self, setting):
        probes, refine = setting
        refining = ("--refine-factor", refine) if refine else ()
        report, self.process_seconds = program.join(
            "--left", self.dataset.left_file, "--right", self.dataset.dataset, "-k", K,
            "--metric", self.dataset.metric, "--index", "require", "--nprobes", probes,
            *refining, "--threads", self.threads, "--with-row-id",
            "--with-query-index", "--right-select", "", "--left-select", "", "-o", self.output)
        return report["total_s"]

    def found(self, setting):
        self.seconds(setting)
        with pa.memory_map(str(self.output)) as file:
            table = pa.ipc.open_file(file).read_all()
        query = table["_query_index"].to_numpy()
        found = np.full((query.max() + 1, K), -1, dtype=np.int64)
        found[query, table["_rank"].to_numpy() - 1] = table["_rowid"].to_numpy()
        return found


class Pylance:
    def __init__(self, dataset, left):
        self.name = "pylance batch"
        self.opened = lance.dataset(dataset.dataset)
        self.left = left[:PYLANCE_ROWS]

    def seconds(self, setting):
        probes, refine = setting
        nearest = {"column": "vector", "q": self.left, "k": K, "nprobes": probes}
        if refine:
            nearest["refine_factor"] = refine
        begin = paired.now()
        self.table = self.opened.to_table(columns=["_distance"], with_row_id=True, nearest=nearest)
        return paired.now() - begin

    def found(self, setting):
        self.seconds(setting)
        return self.table["_rowid"].to_numpy().astype(np.int64).reshape(-1, K)


class Faiss:
    def __init__(self, factory, index, left):
        self.name, self.index, self.left = f"faiss {factory}", index, left
        self.refines = factory.endswith("RFlat")

    def parameters(self, setting):
        if "HNSW" in self.name:
            return faiss.SearchParametersHNSW(efSearch=setting)
        probes, refine = setting
        probing = faiss.IVFSearchParameters(nprobe=probes)
        if not self.refines:
            return probing
        return faiss.IndexRefineSearchParameters(k_factor=refine, base_index_params=probing)

    def seconds(self, setting):
        begin = paired.now()
        self.rows = self.index.search(self.left, K, params=self.parameters(setting))[1]
        return paired.now() - begin

    def found(self, setting):
        self.seconds(setting)
        return self.rows


class Hnswlib:
    def __init__(self, index, left, threads):
        self.name, self.index, self.left, self.threads = "hnswlib HNSW16", index, left, threads

    def seconds(self, setting):
        self.index.set_ef(setting)
        begin = paired.now()
        self.rows = self.index.knn_query(self.left, k=K, num_threads=self.threads)[0]
        return paired.now() - begin

    def found(self, setting):
        self.seconds(setting)
        return self.rows.astype(np.int64)


class Usearch:
    def __init__(self, index, left, threads):
        self.name, self.index, self.left, self.threads = "usearch HNSW16", index, left, threads

    def seconds(self, setting):
        self.index.expansion_search = setting
        begin = paired.now()
        self.rows = self.index.search(self.left, K, threads=self.threads).keys
        return paired.now() - begin

    def found(self, setting):
        self.seconds(setting)
        return np.asarray(self.rows).astype(np.int64)


def kept(path, make, read, write):
    """What `path` holds; made first if it isn't there."""
    if not path.exists():
        print(f"making {path.name} ...", flush=True)
        unfinished = path.with_name("unfinished-" + path.name)
        write(make(), unfinished)
        unfinished.rename(path)
    return read(path)


def faiss_index(folder, factory, right):
    def make():
        index = faiss.index_factory(right.shape[1], factory)
        index.train(right)
        index.add(right)
        return index

    file = folder / f"{factory.replace(',', '-')}.faiss"
    return kept(file, make, lambda path: faiss.read_index(str(path)),
                lambda index, path: faiss.write_index(index, str(path)))


def hnswlib_index(folder, right):
    def make():
        index = hnswlib.Index("l2", right.shape[1])
        index.init_index(len(right), M=16, ef_construction=200)
        index.add_items(right)
        return index

    def read(path):
        index = hnswlib.Index("l2", right.shape[1])
        index.load_index(str(path))
        return index

    return kept(folder / "hnswlib.bin", make, read, lambda index, path: index.save_index(str(path)))


def usearch_index(folder, right):
    def make():
        index = UsearchIndex(ndim=right.shape[1], metric="l2sq", dtype="f32", connectivity=16)
        index.add(np.arange(len(right)), right)
        return index

    return kept(folder / "usearch.bin", make, lambda path: UsearchIndex.restore(str(path)),
                lambda index, path: index.save(str(path)))


def exact_rows(folder, right, left):
    def make():
        return faiss.knn(left, right, K)[1]

    return kept(folder / "exact.npy", make, np.load,
                lambda rows, path: np.save(path.with_suffix(""), rows)
                or path.with_suffix("").with_suffix(".npy").rename(path))


def fastest(kinjo, recalls, least):
    """Kinjo's fastest (probes, refine factor) among the cheapest of each refine factor."""
    settings = []
    for refine in REFINES:
        found = recalls.cheapest(kinjo, [(probes, refine) for probes in PROBES], least)
        if found is not None and (not settings or found[0] < settings[-1][0]):
            settings.append(found)
    return min(settings, key=lambda setting: min(kinjo.seconds(setting) for _ in range(3)))


def choose(rival, recalls, least, refine):
    """A rival's settings that reach the recall: of each refine factor the fewest probes."""
    if "HNSW" in rival.name:
        return [recalls.cheapest(rival, BREADTHS, least)]
    refines = REFINES[1:] if rival.name.endswith("RFlat") else [1]
    if rival.name.startswith("pylance"):
        refines = [refine]
    settings = [recalls.cheapest(rival, [(probes, each) for probes in PROBES], least)
                for each in refines]
    return [setting for setting in settings if setting is not None]


def race(dataset, folder, rounds, threads):
    folder.mkdir(parents=True, exist_ok=True)
    right, left = dataset.vectors()
    exact = exact_rows(folder, right, left)
    recalls = Recalls(folder / "recalls.json", exact)
    kinjo = Kinjo(dataset, folder, threads)
    rivals = [Pylance(dataset, left)]
    rivals += [Faiss(f"IVF{PARTITIONS},{factory}",
                     faiss_index(folder, f"IVF{PARTITIONS},{factory}", right), left)
               for factory in dataset.factories]
    rivals += [Faiss("HNSW16", faiss_index(folder, "HNSW16", right), left),
               Hnswlib(hnswlib_index(folder, right), left, threads),
               Usearch(usearch_index(folder, right), left, threads)]
    for target in TARGETS:
        ours = fastest(kinjo, recalls, target)
        reached = recalls.of(kinjo, ours)
        racers = [paired.Rival("kinjo", len(left), lambda at=ours: kinjo.seconds(at))]
        notes = [f"recall {reached:.4f}, {ours[0]} probes, refine factor {ours[1]}"]
        for rival in rivals:
            settings = choose(rival, recalls, reached - TOLERANCE, ours[1])
            if not settings or settings[0] is None:
                print(f"  {rival.name} does not reach {reached:.3f}")
                continue
            if len(settings) > 1:
                settings = [min(settings, key=rival.seconds)]
            rows = PYLANCE_ROWS if isinstance(rival, Pylance) else len(left)
            racers.append(paired.Rival(rival.name, rows,
                                       lambda it=rival, at=settings[0]: it.seconds(at)))
            notes.append(f"recall {recalls.of(rival, settings[0]):.4f}, {settings[0]}")
        paired.print_race(f"{dataset.name}, {len(left):,} x {len(right):,} x {right.shape[1]}, "
                          f"recall@{K} {target}, {threads} threads", racers,
                          paired.race(racers, rounds), notes)


def run(folder: Path, rounds: int, threads: int):
    faiss.omp_set_num_threads(threads)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for dataset in (Words, Clustered):
        race(dataset(), FOLDER / dataset.name, rounds, threads)
