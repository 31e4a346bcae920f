package io.kinjo;

/** What the elements of a vector are. */
public enum ElementType {
  FLOAT32("float32", 4),
  FLOAT64("float64", 8),
  FLOAT16("float16", 2),
  UINT8("uint8", 1),
  INT8("int8", 1);

  private final String word;
  private final int bytes;

  ElementType(String word, int bytes) {
    this.word = word;
    this.bytes = bytes;
  }

  /** The name that the engine and Lance have for it. */
  public String word() {
    return word;
  }

  /** Bytes of one element. */
  public int bytes() {
    return bytes;
  }
}
