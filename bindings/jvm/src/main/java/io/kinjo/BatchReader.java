package io.kinjo;

import java.util.List;

/**
 * Rows that the engine makes, batch after batch:
 *
 * <pre>{@code
 * try (BatchReader reader = ...) {
 *   while (reader.next()) {
 *     for (long row = 0; row < reader.rows(); row++) { ... reader.column(0).getLong(row) ... }
 *   }
 * }
 * }</pre>
 *
 * <p>One thread at a time. Must be closed: what it holds lies outside the heap.
 */
public class BatchReader implements AutoCloseable {
  private final List<ArrowField> columns;
  private final ArrowField batchField;
  private long stream;
  private long array; // an ArrowArray struct of ours
  private ArrowVector batch;

  /** Takes the stream over, also when this fails. */
  BatchReader(long stream) {
    try {
      this.columns = ArrowField.columnsOf(address -> Native.streamSchema(stream, address));
    } catch (RuntimeException | Error e) {
      Native.streamFree(stream);
      throw e;
    }
    this.batchField = ArrowField.batchOf(columns);
    this.stream = stream;
    this.array = OffHeap.allocate(ArrowVector.STRUCT_BYTES);
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
      throw new KinjoException("state", "the rows were closed", "", -1);
    }
    releaseBatch();
    if (!Native.streamNext(stream, array)) {
      return false;
    }
    batch = new ArrowVector(batchField, array);
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

  final boolean isClosed() {
    return stream == 0;
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
    if (stream != 0) {
      releaseBatch();
      Native.streamFree(stream);
      OffHeap.free(array);
      stream = 0;
      array = 0;
    }
  }
}
