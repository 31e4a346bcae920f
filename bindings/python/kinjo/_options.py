"""The options of joins, as the functions take them that pass them on."""

from typing import Any, TypedDict


class SearchOptions(TypedDict, total=False):
    """Those of `kinjo.join` but k; `join` tells what each means, and its default."""

    on: str | None
    left_on: str | None
    right_on: str | None
    how: str
    nprobes: int | None
    minimum_nprobes: int | None
    maximum_nprobes: int | None
    refine_factor: int | None
    ef: int | None
    metric: str | None
    distance_range: tuple[float | None, float | None] | None
    where: str | None
    left_select: list[str] | str | None
    right_select: list[str] | str | None
    by: list[str] | str | None
    exclude_self: bool | str
    recall: float | None
    index: str
    unordered_pairs: bool
    mutual: bool
    memory_limit: int | str | None
    threads: int | None
    suffix: str
    with_row_id: bool
    right_version: int | str | None
    fast_search: bool
    approx_mode: str
    search_effort: float | None
    progress: Any
    with_query_index: bool
    clusters: bool
    storage_options: dict[str, str] | None


class JoinOptions(SearchOptions, total=False):
    """All of them."""

    k: int
