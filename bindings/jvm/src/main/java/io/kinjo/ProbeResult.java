package io.kinjo;

/** The neighbours of one block of vectors, and what finding them took. */
public final class ProbeResult extends BatchReader {
  private final long search;
  private String lastReport = "";

  private ProbeResult(long search, long stream) {
    super(stream);
    this.search = search;
  }

  /** Takes the search over, also when this fails. */
  static ProbeResult run(long search, Cancel cancel) {
    try {
      return new ProbeResult(
          search, Native.searchRun(search, cancel == null ? 0 : cancel.handle()));
    } catch (RuntimeException | Error e) {
      Native.searchFree(search);
      throw e;
    }
  }

  /** What the search did so far, as JSON; final at the end. Also after a close. */
  public String report() {
    return isClosed() ? lastReport : Native.searchReport(search);
  }

  @Override
  public void close() {
    if (isClosed()) {
      return;
    }
    try {
      lastReport = Native.searchReport(search);
    } finally {
      super.close();
      Native.searchFree(search);
    }
  }
}
