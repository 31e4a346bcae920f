"""Data of the benches, the same in every run: made vectors in clusters, and recall."""

import numpy as np


def clustered(rows, dim, *, queries=10_000, seed=1, latent=24, clusters=2_000):
    """-> (right [rows, dim], left [queries, dim]) float32, alike in their spread to image features:
    points around centres in a space of few dimensions, bent into a wider one, with noise.
    """
    random = np.random.default_rng(seed)
    centres = random.standard_normal((clusters, latent), dtype=np.float32)
    spread = random.standard_normal((latent, dim), dtype=np.float32) / np.float32(latent**0.5)

    def some(count):
        inner = centres[random.integers(clusters, size=count)]
        inner += 0.5 * random.standard_normal((count, latent), dtype=np.float32)
        noise = 0.05 * random.standard_normal((count, dim), dtype=np.float32)
        return np.tanh(inner @ spread) + noise

    return some(rows), some(queries)


def unit(vectors):
    """Rows divided by their length."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def recall(found, exact):
    """Share of the exact neighbours that were found; a set of ids for each left row."""
    return sum(len(a & b) for a, b in zip(found, exact)) / sum(map(len, exact))
