"""Seeds for scalar_files_fuzz, cut from the golden dataset `filters`.

    python tests/fuzz/make_scalar_corpus.py

writes scalar_files_fuzz/ beside this file: a bitmap file, the two files of a B-tree, and a set of
row ids, each in the form that scalar_files_fuzz.cc describes.
"""

import struct
from pathlib import Path

from lance.file import LanceFileReader

HERE = Path(__file__).resolve().parent
INDICES = HERE.parent / "golden" / "filters.lance" / "_indices"


def smallest(name):
    return min(INDICES.glob(f"*/{name}"), key=lambda path: (path.stat().st_size, path))


def main():
    folder = HERE / "scalar_files_fuzz"
    folder.mkdir(exist_ok=True)
    bitmaps = smallest("bitmap_page_lookup.lance")
    sets = LanceFileReader(str(bitmaps)).read_all().to_table()["bitmaps"]
    (folder / "set").write_bytes(b"\0" + sets[0].as_py())
    (folder / "bitmap").write_bytes(b"\1" + bitmaps.read_bytes())
    data = smallest("page_data.lance")
    lookup = (data.parent / "page_lookup.lance").read_bytes()
    both = struct.pack("<I", len(lookup)) + lookup + data.read_bytes()
    (folder / "btree").write_bytes(b"\2" + both)


if __name__ == "__main__":
    main()
