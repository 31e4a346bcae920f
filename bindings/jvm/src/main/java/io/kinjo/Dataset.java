package io.kinjo;

import java.util.List;

/**
 * One version of a Lance dataset, as a snapshot. Any number of threads may use one. What was opened
 * of its indexes stays with it, so it pays to keep it; {@link SharedDatasets} does.
 */
public final class Dataset implements AutoCloseable {
  /** The latest version. */
  public static final long LATEST = Native.UNSET;

  private final String uri;
  private final long version;
  private final long rows;
  private final int fragments;
  private final int vectorIndexes;
  private final long[] openedFragments;
  private long handle;
  private int users;

  private Dataset(String uri, long handle, long[] openedFragments) {
    this.uri = uri;
    this.openedFragments = openedFragments;
    this.handle = handle;
    long[] info = Native.datasetInfo(handle);
    this.version = info[0];
    this.rows = info[1];
    this.fragments = (int) info[2];
    this.vectorIndexes = (int) info[3];
  }

  /** Opens a version, or {@link #LATEST}. */
  public static Dataset open(String uri, long version) {
    return new Dataset(uri, Native.datasetOpen(uri, version, null, null), null);
  }

  /**
   * Opens some fragments of a version, as if it had no others: an index is searched as far as it
   * covers them. Null: all.
   */
  public static Dataset openFragments(String uri, long version, long[] fragments) {
    return new Dataset(uri, Native.datasetOpen(uri, version, null, fragments), fragments);
  }

  /** Opens the version that a tag names. */
  public static Dataset openTag(String uri, String tag) {
    return new Dataset(uri, Native.datasetOpen(uri, LATEST, tag, null), null);
  }

  public String uri() {
    return uri;
  }

  public long version() {
    return version;
  }

  /** As given to {@link #openFragments}; null: all. */
  long[] openedFragments() {
    return openedFragments;
  }

  /** Live rows. */
  public long rows() {
    return rows;
  }

  public int fragments() {
    return fragments;
  }

  public int vectorIndexes() {
    return vectorIndexes;
  }

  public List<ArrowField> columns() {
    return use(h -> ArrowField.columnsOf(address -> Native.datasetSchema(h, address)));
  }

  /** All that the manifest tells, as JSON. */
  public String describe() {
    return use(Native::datasetDescribe);
  }

  /**
   * Starts a scan of live rows, in the dataset's order.
   *
   * @param columns names, in order; null: all
   * @param where SQL predicate; null: every row
   * @param limit rows at most; -1: all
   * @param fragments ids of those to read; null: all
   * @param cancel may be null
   */
  public BatchReader scan(
      String[] columns, String where, long limit, long[] fragments, Cancel cancel) {
    long flag = cancel == null ? 0 : cancel.handle();
    return new BatchReader(
        use(open -> Native.datasetScan(open, columns, where, limit, fragments, flag)));
  }

  /** A piece of work with the native handle. */
  interface Work<T> {
    T with(long handle);
  }

  /** Runs work while the handle is sure to stay open. */
  <T> T use(Work<T> work) {
    long open;
    synchronized (this) {
      if (handle == 0) {
        throw new KinjoException("state", uri + ": the dataset was closed", uri, -1);
      }
      open = handle;
      users++;
    }
    try {
      return work.with(open);
    } finally {
      leave();
    }
  }

  private synchronized void leave() {
    users--;
    notifyAll();
  }

  /** Waits for work that goes on. A second close does nothing. */
  @Override
  public void close() {
    long owned;
    synchronized (this) {
      owned = handle;
      handle = 0;
      boolean interrupted = false;
      while (users > 0) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    if (owned != 0) {
      Native.datasetFree(owned);
    }
  }
}
