package io.kinjo;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import sun.misc.Unsafe;

/**
 * Memory outside the heap, by address. Nothing is checked: an address that isn't the caller's ends
 * the process.
 */
final class OffHeap {
  private static final Unsafe UNSAFE = unsafe();
  private static final long BYTES = Unsafe.ARRAY_BYTE_BASE_OFFSET;

  private OffHeap() {}

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Memory filled with zeros. */
  static long allocate(long bytes) {
    long address = UNSAFE.allocateMemory(bytes);
    UNSAFE.setMemory(address, bytes, (byte) 0);
    return address;
  }

  static void free(long address) {
    UNSAFE.freeMemory(address);
  }

  static byte getByte(long address) {
    return UNSAFE.getByte(address);
  }

  static short getShort(long address) {
    return UNSAFE.getShort(address);
  }

  static int getInt(long address) {
    return UNSAFE.getInt(address);
  }

  static long getLong(long address) {
    return UNSAFE.getLong(address);
  }

  static float getFloat(long address) {
    return UNSAFE.getFloat(address);
  }

  static double getDouble(long address) {
    return UNSAFE.getDouble(address);
  }

  static byte[] getBytes(long address, int length) {
    byte[] bytes = new byte[length];
    UNSAFE.copyMemory(null, address, bytes, BYTES, length);
    return bytes;
  }

  static void putFloats(long address, float[] values) {
    UNSAFE.copyMemory(
        values, Unsafe.ARRAY_FLOAT_BASE_OFFSET, null, address, 4L * values.length);
  }

  static void putDoubles(long address, double[] values) {
    UNSAFE.copyMemory(
        values, Unsafe.ARRAY_DOUBLE_BASE_OFFSET, null, address, 8L * values.length);
  }

  static void putBytes(long address, byte[] values) {
    UNSAFE.copyMemory(values, BYTES, null, address, values.length);
  }

  /** The text that ends with a zero byte; "" for a null address. */
  static String getText(long address) {
    if (address == 0) {
      return "";
    }
    int length = 0;
    while (UNSAFE.getByte(address + length) != 0) {
      length++;
    }
    return new String(getBytes(address, length), StandardCharsets.UTF_8);
  }
}
