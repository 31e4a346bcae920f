package io.kinjo;

import java.util.List;

/**
 * The neighbours of one block, batch after batch:
 *
 * <pre>{@code
 * try (ProbeResult result = probe.probe(...)) {
 *   while (result.next()) {
 *     for (long row = 0; row < result.rows(); row++) { ... result.column(0).getLong(row) ... }
 *   }
 * }
 * }</pre>
 *
 * <p>One thread at a time. Must be closed: what it holds lies outside the heap.
 */
public final class ProbeResult implements AutoCloseable {
  private final long search;
  private final List<ArrowField> columns;
  private long stream;
  private long array; // an ArrowArray struct of ours
  private ArrowVector batch;
  private String lastReport = "";

  private ProbeResult(long search, List<ArrowField> columns, long stream) {
    this.search = search;
    this.columns = columns;
    this.stream = stream;
    this.array = OffHeap.allocate(ArrowVector.STRUCT_BYTES);
  }

  /** Takes the search over, also when this fails. */
  static ProbeResult run(long search, Cancel cancel) {
    try {
      List<ArrowField> columns =
          ArrowField.columnsOf(address -> Native.searchSchema(search, address));
      long stream = Native.searchRun(search, cancel == null ? 0 : cancel.handle());
      return new ProbeResult(search, columns, stream);
    } catch (RuntimeException | Error e) {
      Native.searchFree(search);
      throw e;
    }
  }

  public List<ArrowField> columns() {
    return columns;
  }

  /** The number of the column with this name; -1 when there is none. */
  public int indexOf(String name) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).name().equals(name)) {
        return i;
      }
    }
    return -1;
  }

  /** Goes on to the next batch, and frees the one before; false at the end. */
  public boolean next() {
    if (stream == 0) {
      throw new KinjoException("state", "the result was closed", "", -1);
    }
    releaseBatch();
    if (!Native.streamNext(stream, array)) {
      return false;
    }
    batch = new ArrowVector(ArrowField.batchOf(columns), array);
    return true;
  }

  /** Rows of the batch at hand. */
  public int rows() {
    return (int) batch.length();
  }

  /** A column of the batch at hand; good until the next one. */
  public ArrowVector column(int number) {
    return batch.child(number);
  }

  /** What the search did so far, as JSON; final at the end. Also after a close. */
  public String report() {
    return stream == 0 ? lastReport : Native.searchReport(search);
  }

  private void releaseBatch() {
    if (batch != null) {
      Native.arrayRelease(array);
      batch = null;
    }
  }

  /** Stops what still runs, waits for it, and frees the batch at hand. */
  @Override
  public void close() {
    if (stream == 0) {
      return;
    }
    releaseBatch();
    try {
      lastReport = Native.searchReport(search);
    } finally {
      Native.streamFree(stream);
      Native.searchFree(search);
      OffHeap.free(array);
      stream = 0;
      array = 0;
    }
  }
}
