package io.kinjo;

/** A failure of the engine. */
public final class KinjoException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;
  private final String path;
  private final long offset;

  KinjoException(String code, String message, String path, long offset) {
    super(message);
    this.code = code;
    this.path = path;
    this.offset = offset;
  }

  /**
   * What kind of failure it is: invalid, not_found, io, corrupt, not_supported, internal, conflict,
   * capacity, refused, cancelled or state.
   */
  public String code() {
    return code;
  }

  /** The file that it is about, or "". */
  public String path() {
    return path;
  }

  /** The byte of {@link #path()} that it is about, or -1. */
  public long offset() {
    return offset;
  }
}
