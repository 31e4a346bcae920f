package io.kinjo;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;

/**
 * The values of one column of a batch, read where they lie. Good as long as the batch is open; any
 * number of threads may read. Which getter fits follows from {@link ArrowField#format()}; the
 * others, and rows outside [0, length), give nonsense or end the process.
 */
public final class ArrowVector {
  /** Bytes of an ArrowArray struct. */
  static final int STRUCT_BYTES = 80;

  private final ArrowField field;
  private final long length;
  private final long offset;
  private final long validity;
  private final long values;
  private final long bytes;
  private final ArrowVector[] children;
  private final ArrowVector dictionary;
  private final int width;

  ArrowVector(ArrowField field, long address) {
    this.field = field;
    this.length = OffHeap.getLong(address);
    this.offset = OffHeap.getLong(address + 16);
    long bufferCount = OffHeap.getLong(address + 24);
    long buffers = OffHeap.getLong(address + 40);
    boolean maybeNull = OffHeap.getLong(address + 8) != 0 && bufferCount > 0;
    this.validity = maybeNull ? OffHeap.getLong(buffers) : 0;
    this.values = bufferCount > 1 ? OffHeap.getLong(buffers + 8) : 0;
    this.bytes = bufferCount > 2 ? OffHeap.getLong(buffers + 16) : 0;
    this.children = new ArrowVector[field.children().size()];
    long childAddresses = OffHeap.getLong(address + 48);
    for (int i = 0; i < children.length; i++) {
      children[i] =
          new ArrowVector(field.children().get(i), OffHeap.getLong(childAddresses + 8L * i));
    }
    this.dictionary =
        field.dictionary() == null
            ? null
            : new ArrowVector(field.dictionary(), OffHeap.getLong(address + 56));
    this.width = fixedWidth(field.format());
  }

  // The number that a format ends with: bytes of "w:16", items of "+w:128"; else 0.
  private static int fixedWidth(String format) {
    boolean hasWidth = format.startsWith("w:") || format.startsWith("+w:");
    return hasWidth ? Integer.parseInt(format.substring(format.indexOf(':') + 1)) : 0;
  }

  public ArrowField field() {
    return field;
  }

  public long length() {
    return length;
  }

  /** Whether any row may be null. */
  public boolean hasNulls() {
    return validity != 0 || field.format().equals("n");
  }

  public boolean isNull(long row) {
    if (validity == 0) {
      return field.format().equals("n");
    }
    return !bit(validity, offset + row);
  }

  private static boolean bit(long bits, long index) {
    return (OffHeap.getByte(bits + (index >> 3)) >> (index & 7) & 1) != 0;
  }

  /** Of "b". */
  public boolean getBoolean(long row) {
    return bit(values, offset + row);
  }

  /** Of "c" and "C". */
  public byte getByte(long row) {
    return OffHeap.getByte(values + offset + row);
  }

  /** Of "s", "S" and the bits of "e" (float16). */
  public short getShort(long row) {
    return OffHeap.getShort(values + 2 * (offset + row));
  }

  /** Of "i", "I" and dates, times and intervals of 32 bits. */
  public int getInt(long row) {
    return OffHeap.getInt(values + 4 * (offset + row));
  }

  /** Of "l", "L" and dates, times, timestamps and durations of 64 bits. */
  public long getLong(long row) {
    return OffHeap.getLong(values + 8 * (offset + row));
  }

  /** Of "f". */
  public float getFloat(long row) {
    return OffHeap.getFloat(values + 4 * (offset + row));
  }

  /** Of "g". */
  public double getDouble(long row) {
    return OffHeap.getDouble(values + 8 * (offset + row));
  }

  /** Of "d:precision,scale" and "d:precision,scale,256": the value without its decimal point. */
  public BigInteger getUnscaled(long row) {
    int size = field.format().endsWith(",256") ? 32 : 16;
    byte[] little = OffHeap.getBytes(values + size * (offset + row), size);
    byte[] big = new byte[size];
    for (int i = 0; i < size; i++) {
      big[i] = little[size - 1 - i];
    }
    return new BigInteger(big);
  }

  /** The address of the bytes of "u", "U", "z", "Z" and "w:n". */
  public long bytesAddress(long row) {
    return width > 0 ? values + width * (offset + row) : bytes + end(row - 1);
  }

  /** How many bytes lie there. */
  public int bytesLength(long row) {
    return width > 0 ? width : (int) (end(row) - end(row - 1));
  }

  public byte[] getBytes(long row) {
    return OffHeap.getBytes(bytesAddress(row), bytesLength(row));
  }

  /** Of "u" and "U". */
  public String getText(long row) {
    return new String(getBytes(row), StandardCharsets.UTF_8);
  }

  // Where row `row` of variable length ends; row -1: where row 0 begins.
  private long end(long row) {
    long index = offset + row + 1;
    switch (field.format()) {
      case "U":
      case "Z":
      case "+L":
        return OffHeap.getLong(values + 8 * index);
      default:
        return OffHeap.getInt(values + 4 * index);
    }
  }

  /** The first item of a list row ("+l", "+L", "+w:n", "+m") in {@code child(0)}. */
  public long listBegin(long row) {
    return width > 0 ? width * (offset + row) : end(row - 1);
  }

  /** How many items it has. */
  public int listLength(long row) {
    return width > 0 ? width : (int) (end(row) - end(row - 1));
  }

  /** The items of lists, or a field of structs. */
  public ArrowVector child(int number) {
    return children[number];
  }

  /** The row of a struct ("+s") in its children. */
  public long childRow(long row) {
    return offset + row;
  }

  /** The values that a dictionary column's rows stand for, by {@link #dictionaryRow}; else null. */
  public ArrowVector dictionary() {
    return dictionary;
  }

  /** The row of {@link #dictionary()} that holds this row's value. */
  public long dictionaryRow(long row) {
    switch (field.format()) {
      case "c":
        return getByte(row);
      case "C":
        return getByte(row) & 0xFF;
      case "s":
        return getShort(row);
      case "S":
        return getShort(row) & 0xFFFF;
      case "i":
        return getInt(row);
      case "I":
        return getInt(row) & 0xFFFFFFFFL;
      default:
        return getLong(row);
    }
  }
}
