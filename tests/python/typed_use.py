"""A program that mypy reads and nobody runs: what users' tools know of the package's types."""

from typing import Any, assert_type

import numpy as np

import kinjo

with kinjo.join("left.parquet", np.zeros((2, 2)), k=3, distance_range=(None, 2.0)) as result:
    assert_type(result, kinjo.JoinResult)
    assert_type(result.explain(), str)
    assert_type(result.report, dict[str, Any])
    assert_type(result.columns, list[str])
    assert_type(result.write_parquet("out.parquet"), int)

dataset = kinjo.open("items.lance", version="tag")
assert_type(dataset.version, int)
assert_type(dataset.search([0.5, 0.5], k=3, nprobes=4, where="a < 3"), kinjo.JoinResult)
assert_type(dataset.create_vector_index("v", kind="IVF_PQ"), dict[str, Any])
assert_type(kinjo.write_dataset("a.csv", "b.lance"), kinjo.Dataset)
assert_type(kinjo.tune("a", "b", recall=0.9).picked, dict[str, Any] | None)
assert_type(kinjo.Error().code, str)

kinjo.join("a", "b", nprobe=3)  # type: ignore[call-arg]
kinjo.join("a", "b", k="3")  # type: ignore[arg-type]
kinjo.tune("a", "b", nprobe=3)  # type: ignore[call-arg]
dataset.search([1.0], nprobes="3")  # type: ignore[arg-type]
dataset.search([1.0], nprobe=3)  # type: ignore[call-arg]
dataset.create_vector_index("v", nlist=3)  # type: ignore[call-arg]
