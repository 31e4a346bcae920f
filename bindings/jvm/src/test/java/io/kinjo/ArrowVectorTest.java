package io.kinjo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Arrays made by hand, with offsets as slices have them, read back value by value. */
final class ArrowVectorTest {
  private final List<Long> owned = new ArrayList<>();

  @AfterEach
  void freeMemory() {
    owned.forEach(OffHeap::free);
  }

  private ByteBuffer memory(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private long offHeap(ByteBuffer bytes) {
    long address = OffHeap.allocate(bytes.capacity() + 1L);
    OffHeap.putBytes(address, bytes.array());
    owned.add(address);
    return address;
  }

  private long addresses(long... numbers) {
    ByteBuffer bytes = memory(8 * numbers.length);
    for (long number : numbers) {
      bytes.putLong(number);
    }
    return offHeap(bytes);
  }

  private long text(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    ByteBuffer bytes = memory(utf8.length + 1);
    bytes.put(utf8);
    return offHeap(bytes);
  }

  private ArrowField field(String format, long dictionary, long... children) {
    ByteBuffer schema = memory(ArrowField.STRUCT_BYTES);
    schema.putLong(text(format)).putLong(text("x")).putLong(0).putLong(2);
    schema.putLong(children.length).putLong(addresses(children)).putLong(dictionary);
    return ArrowField.at(offHeap(schema));
  }

  private long schema(String format, long... children) {
    ByteBuffer schema = memory(ArrowField.STRUCT_BYTES);
    schema.putLong(text(format)).putLong(text("item")).putLong(0).putLong(2);
    schema.putLong(children.length).putLong(addresses(children));
    return offHeap(schema);
  }

  /** An ArrowArray; buffers without an address are 0. */
  private long array(
      long length, long nulls, long offset, long[] buffers, long dictionary, long... children) {
    ByteBuffer array = memory(ArrowVector.STRUCT_BYTES);
    array.putLong(length).putLong(nulls).putLong(offset).putLong(buffers.length);
    array.putLong(children.length).putLong(addresses(buffers)).putLong(addresses(children));
    array.putLong(dictionary);
    return offHeap(array);
  }

  private long bits(int byteOfBits) {
    ByteBuffer bytes = memory(1);
    bytes.put((byte) byteOfBits);
    return offHeap(bytes);
  }

  private long ints(int... numbers) {
    ByteBuffer bytes = memory(4 * numbers.length);
    for (int number : numbers) {
      bytes.putInt(number);
    }
    return offHeap(bytes);
  }

  @Test
  void numbersAndNullsOfASlice() {
    // Rows 1 to 3 of 10, null, 12, 13.
    long address = array(3, 1, 1, new long[] {bits(0b1101), ints(10, 11, 12, 13)}, 0);
    ArrowVector vector = new ArrowVector(field("i", 0), address);
    assertEquals(3, vector.length());
    assertTrue(vector.hasNulls());
    assertTrue(vector.isNull(0));
    assertFalse(vector.isNull(1));
    assertEquals(12, vector.getInt(1));
    assertEquals(13, vector.getInt(2));
    assertNull(vector.dictionary());
  }

  @Test
  void validityIsNotLookedAtWhereNothingIsNull() {
    long address = array(1, 0, 0, new long[] {bits(0), ints(7)}, 0);
    ArrowVector vector = new ArrowVector(field("i", 0), address);
    assertFalse(vector.hasNulls());
    assertFalse(vector.isNull(0));
  }

  @Test
  void booleansAndTheNullType() {
    long address = array(2, 0, 1, new long[] {0, bits(0b100)}, 0);
    ArrowVector booleans = new ArrowVector(field("b", 0), address);
    assertFalse(booleans.getBoolean(0));
    assertTrue(booleans.getBoolean(1));
    ArrowVector nulls = new ArrowVector(field("n", 0), array(2, 2, 0, new long[0], 0));
    assertTrue(nulls.isNull(1));
  }

  @Test
  void textsOfBothOffsetWidths() {
    long bytes = text("ab\u00e9");
    long small = array(2, 0, 1, new long[] {0, ints(0, 1, 2, 4), bytes}, 0);
    ArrowVector vector = new ArrowVector(field("u", 0), small);
    assertEquals("b", vector.getText(0));
    assertEquals("\u00e9", vector.getText(1));
    assertEquals(2, vector.bytesLength(1));
    long large = array(2, 0, 1, new long[] {0, addresses(0, 1, 2, 4), bytes}, 0);
    assertEquals("\u00e9", new ArrowVector(field("U", 0), large).getText(1));
  }

  @Test
  void bytesOfFixedWidth() {
    long address = array(1, 0, 1, new long[] {0, text("abcdef")}, 0);
    ArrowVector vector = new ArrowVector(field("w:3", 0), address);
    assertArrayEquals("def".getBytes(StandardCharsets.UTF_8), vector.getBytes(0));
  }

  @Test
  void decimalsAreSigned() {
    long address = array(1, 0, 1, new long[] {0, addresses(5, 0, -7, -1)}, 0);
    ArrowVector vector = new ArrowVector(field("d:20,2", 0), address);
    assertEquals(BigInteger.valueOf(-7), vector.getUnscaled(0));
  }

  @Test
  void listsOfBothKinds() {
    long items = array(6, 0, 0, new long[] {0, ints(0, 1, 2, 3, 4, 5)}, 0);
    long lists = array(2, 0, 1, new long[] {0, ints(0, 1, 3, 6)}, 0, items);
    ArrowVector vector = new ArrowVector(field("+l", 0, schema("i")), lists);
    assertEquals(3, vector.listBegin(1));
    assertEquals(3, vector.listLength(1));
    assertEquals(4, vector.child(0).getInt(vector.listBegin(1) + 1));
    long fixed = array(2, 0, 1, new long[] {0}, 0, items);
    ArrowVector pairs = new ArrowVector(field("+w:2", 0, schema("i")), fixed);
    assertEquals(2, pairs.listBegin(0));
    assertEquals(2, pairs.listLength(0));
  }

  @Test
  void structsHandTheirOffsetOn() {
    long items = array(3, 0, 0, new long[] {0, ints(7, 8, 9)}, 0);
    long address = array(2, 0, 1, new long[] {0}, 0, items);
    ArrowVector vector = new ArrowVector(field("+s", 0, schema("i")), address);
    assertEquals(9, vector.child(0).getInt(vector.childRow(1)));
  }

  @Test
  void dictionaryRowsReadTheirIndexWidth() {
    long values = array(2, 0, 0, new long[] {0, ints(0, 1, 2), text("ab")}, 0);
    long address = array(2, 0, 0, new long[] {0, bits(1)}, values);
    ArrowVector vector = new ArrowVector(field("C", schema("u")), address);
    assertEquals("b", vector.dictionary().getText(vector.dictionaryRow(0)));
  }
}
