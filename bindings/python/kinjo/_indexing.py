"""Making and keeping vector indexes, each time one commit."""

import json
import re
from typing import Any

from kinjo._errors import InvalidArgument, NotFound
from kinjo._library import native
from kinjo._progress import showing
from kinjo._sizes import bytes_of

_ELEMENTS = {"halffloat": "f2", "float": "f4", "double": "f8", "uint8": "u1"}
_DEFAULT_BITS = 8


def _vector_column(dataset: Any, column: str | None) -> tuple[str, int]:
    """The element type (NumPy's) and width of a vector column."""
    for field in dataset.describe()["schema"]:
        found = re.search(r"item: (\w+)[^<]*>\[(\d+)\]", field["type"])
        if found and column in (None, field["name"]):
            return _ELEMENTS.get(found[1], "f4"), int(found[2])
    raise NotFound(f"{dataset.uri} has no vector column {column or ''}".rstrip())


def _models(dataset: Any, column: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Centroids and codebook as buffers of the column's elements."""
    given = {name: options[name] for name in ("centroids", "codebook") if name in options}
    if not given:
        return {}
    import numpy

    element, width = _vector_column(dataset, column)
    arrays = {name: numpy.ascontiguousarray(value, element) for name, value in given.items()}
    result: dict[str, Any] = {
        name: array.reshape(-1).view(numpy.uint8) for name, array in arrays.items()
    }
    centroids, codebook = arrays.get("centroids"), arrays.get("codebook")
    if centroids is not None:
        if centroids.ndim != 2 or centroids.shape[1] != width:
            raise InvalidArgument(
                f"centroids has the shape {centroids.shape}; it must be (partitions, {width})"
            )
        result["num_centroids"] = len(centroids)
    codes = 2 ** int(options.get("num_bits", _DEFAULT_BITS))
    if codebook is not None and codebook.size != width * codes:
        raise InvalidArgument(
            f"codebook has {codebook.size} elements; it must have {codes} x {width}"
        )
    return result


def create(dataset: Any, given: dict[str, Any], progress: Any) -> dict[str, Any]:
    """Dataset.create_vector_index; `given` has its options by Python's names."""
    result = given | _models(dataset, given.get("column"), given)
    if "kind" in result:
        result["type"] = result.pop("kind")
    if "memory_limit" in result:
        result["memory_limit_bytes"] = bytes_of("memory_limit", result.pop("memory_limit"))
    with showing(progress) as told:
        made: dict[str, Any] = json.loads(native.create_index(dataset.uri, result, told))
    return made


def optimize(
    uri: str, names: list[str], options: dict[str, Any], progress: Any
) -> list[dict[str, Any]]:
    """Dataset.optimize_indices."""
    given = {name: value for name, value in options.items() if value is not None}
    if "memory_limit" in given:
        given["memory_limit_bytes"] = bytes_of("memory_limit", given.pop("memory_limit"))
    results = []
    for name in names:
        with showing(progress) as told:
            results.append(json.loads(native.optimize_index(uri, name, given, told)))
    return results
