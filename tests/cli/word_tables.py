"""Tables with a number, a word and a random vector in each row."""

import numpy as np
import pyarrow as pa

DIMENSION = 16


def vector_column(values):
    flat = pa.array(np.asarray(values, dtype=np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def word_table(rows, seed, dimension=DIMENSION):
    values = np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32)
    return pa.table(
        {
            "id": pa.array(range(rows), pa.int64()),
            "word": pa.array([f"w{i}" for i in range(rows)], pa.string()),
            "vec": vector_column(values),
        }
    )
