"""Small datasets that the tests of reported faults start from."""

import lance
import numpy as np
import pyarrow as pa

from tests.oracle.brute_force import vector_array


def normal(rows, dim, seed):
    return np.random.default_rng(seed).normal(size=(rows, dim)).astype(np.float32)


def clusters(count, rows_each, dim, seed, spread=10):
    """[count * rows_each, dim], cluster after cluster, their centres far apart."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(count, dim)) * spread
    points = [centre + random.normal(size=(rows_each, dim)) for centre in centres]
    return np.concatenate(points).astype(np.float32)


def write(path, vectors, ids=None, mode="create", columns=None, **options):
    """Writes `id` (the row number unless given), `vec` and more columns; returns the dataset."""
    ids = np.arange(len(vectors)) if ids is None else np.asarray(list(ids))
    table = {"id": pa.array(ids, pa.int64()), "vec": vector_array(vectors)} | (columns or {})
    return lance.write_dataset(pa.table(table), str(path), mode=mode, **options)
