"""Seeds for the fuzz targets of format/table, cut from the golden datasets.

    python tests/fuzz/make_table_corpus.py

writes manifest_fuzz/, deletion_file_fuzz/ and row_ids_fuzz/ beside this file: a few manifests whole
and their messages and index sections alone, one deletion file of each kind, and the row id
sequences of a table with stable row ids.
"""

import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
NAMES = ("added_column", "changed_columns", "deltas", "frag_reuse", "stable_ids", "v1_names")

# Field numbers of Manifest and DataFragment.
FRAGMENTS = 2
PHYSICAL_ROWS = 4
ROW_ID_SEQUENCE = 5


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def values(data, wanted):
    """The values of a message's fields with this number."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if tag & 7 == 2 else (8 if tag & 7 == 1 else 4, at)
            value, at = data[at : at + size], at + size
        if tag >> 3 == wanted:
            yield value


def section(data, at):
    (size,) = struct.unpack_from("<I", data, at)
    return data[at + 4 : at + 4 + size]


def write(target, name, data):
    folder = HERE / target
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)


def latest(name):
    """Bytes of the newest manifest: first by name in one scheme, highest number in the other."""
    files = list((GOLDEN / f"{name}.lance" / "_versions").glob("*.manifest"))
    return max(files, key=lambda file: len(file.name) < 29 and int(file.stem) or -int(file.stem))


def main():
    for name in NAMES:
        data = latest(name).read_bytes()
        (offset,) = struct.unpack_from("<Q", data, len(data) - 16)
        message = section(data, offset)
        write("manifest_fuzz", f"{name}.message", message)
        first = section(data, 0)
        if offset > 0 and len(first) < 1000:
            write("manifest_fuzz", f"{name}.section", first)
        if len(data) < 4000:
            write("manifest_fuzz", f"{name}.manifest", data)
        for number, fragment in enumerate(values(message, FRAGMENTS)):
            [rows] = values(fragment, PHYSICAL_ROWS)
            for sequence in values(fragment, ROW_ID_SEQUENCE):
                write("row_ids_fuzz", f"{name}.{number}", bytes([min(rows, 255)]) + sequence)
    for kind, pattern in ((0, "*.arrow"), (3, "*.bin")):
        for file in sorted((GOLDEN / "deletes.lance" / "_deletions").glob(pattern))[:1]:
            write("deletion_file_fuzz", f"deletes{file.suffix}", bytes([kind]) + file.read_bytes())


if __name__ == "__main__":
    main()
