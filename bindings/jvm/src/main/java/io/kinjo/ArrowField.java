package io.kinjo;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A column's name and type, as the Arrow C data interface spells types. */
public final class ArrowField {
  /** Bytes of an ArrowSchema struct. */
  static final int STRUCT_BYTES = 72;

  private static final long NULLABLE = 2;

  private final String name;
  private final String format;
  private final boolean nullable;
  private final List<ArrowField> children;
  private final ArrowField dictionary;

  private ArrowField(
      String name,
      String format,
      boolean nullable,
      List<ArrowField> children,
      ArrowField dictionary) {
    this.name = name;
    this.format = format;
    this.nullable = nullable;
    this.children = Collections.unmodifiableList(children);
    this.dictionary = dictionary;
  }

  /** Copies the ArrowSchema at the address, which stays its owner's. */
  static ArrowField at(long address) {
    long childCount = OffHeap.getLong(address + 32);
    long childAddresses = OffHeap.getLong(address + 40);
    List<ArrowField> children = new ArrayList<>();
    for (long i = 0; i < childCount; i++) {
      children.add(at(OffHeap.getLong(childAddresses + 8 * i)));
    }
    long dictionary = OffHeap.getLong(address + 48);
    return new ArrowField(
        OffHeap.getText(OffHeap.getLong(address + 8)),
        OffHeap.getText(OffHeap.getLong(address)),
        (OffHeap.getLong(address + 24) & NULLABLE) != 0,
        children,
        dictionary == 0 ? null : at(dictionary));
  }

  /** What a native method writes into an ArrowSchema. */
  interface SchemaWriter {
    void write(long address);
  }

  /** The children of the schema that {@code writer} exports: the columns. */
  static List<ArrowField> columnsOf(SchemaWriter writer) {
    long address = OffHeap.allocate(STRUCT_BYTES);
    try {
      writer.write(address);
      ArrowField schema = at(address);
      Native.schemaRelease(address);
      return schema.children;
    } finally {
      OffHeap.free(address);
    }
  }

  /** The struct whose fields are the columns of a batch. */
  static ArrowField batchOf(List<ArrowField> columns) {
    return new ArrowField("", "+s", false, columns, null);
  }

  public String name() {
    return name;
  }

  /** For example "l" (int64), "f" (float32), "u" (text), "+w:128" (128 items each). */
  public String format() {
    return format;
  }

  public boolean nullable() {
    return nullable;
  }

  public List<ArrowField> children() {
    return children;
  }

  /** The type of the values that this column's numbers stand for; null where they are values. */
  public ArrowField dictionary() {
    return dictionary;
  }

  @Override
  public String toString() {
    return name + ": " + format + (children.isEmpty() ? "" : children.toString());
  }
}
