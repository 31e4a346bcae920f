package io.kinjo;

/**
 * Searches one version of a Lance dataset for the neighbours of blocks of vectors. The dataset and
 * its indexes are opened once per JVM, however many probes there are. One thread at a time uses a
 * probe; any number of probes run side by side.
 *
 * <p>A block shares its work: each partition of the index is read once for all of its vectors. So a
 * few thousand vectors a block are far faster than one by one.
 */
public final class LanceProbe implements AutoCloseable {
  private final Dataset dataset;
  private final ProbeOptions options;
  private boolean closed;

  private LanceProbe(Dataset dataset, ProbeOptions options) {
    this.dataset = dataset;
    this.options = options;
  }

  /**
   * Opens a fixed version: the one that the driver saw, so that every task and every retry reads
   * the same.
   */
  public static LanceProbe open(String uri, long version, ProbeOptions options) {
    return open(uri, version, null, options);
  }

  /**
   * Opens some fragments of a version: searches their rows alone, through the segments of an index
   * that cover them. Null: all.
   */
  public static LanceProbe open(
      String uri, long version, long[] fragments, ProbeOptions options) {
    options.check();
    return new LanceProbe(SharedDatasets.acquire(uri, version, fragments), options);
  }

  public Dataset dataset() {
    return dataset;
  }

  /**
   * Starts the search for {@code count} vectors of {@code width} elements, row after row at an
   * address outside the heap. They are copied: the memory is the caller's again on return. A NaN or
   * an infinity makes a vector match nothing. {@code cancel} may be null.
   *
   * <p>The neighbours come in the order of the vectors, then by distance, then by row: the selected
   * right columns, {@code _distance} and {@code _rank} as asked, and {@code _query_index}, the
   * number of the vector in the block.
   */
  public ProbeResult probe(long address, ElementType type, long count, int width, Cancel cancel) {
    ProbeOptions asked = options.with("with_query_index", "true");
    return ProbeResult.run(make(address, type, count, width, asked), cancel);
  }

  /** The same for vectors in the heap: {@code values.length / width} of them. */
  public ProbeResult probe(float[] values, int width, Cancel cancel) {
    long address = OffHeap.allocate(Math.max(1, 4L * values.length));
    try {
      OffHeap.putFloats(address, values);
      return probe(address, ElementType.FLOAT32, values.length / width, width, cancel);
    } finally {
      OffHeap.free(address);
    }
  }

  /**
   * For each vector, given as for {@link #probe}, the partition of the index whose centroid is
   * nearest: what vectors are brought together by, so that blocks share more of what they read. -1
   * for vectors that match nothing, and for all where no index answers.
   */
  public int[] nearestPartitions(
      long address, ElementType type, long count, int width, Cancel cancel) {
    long search = make(address, type, count, width, options);
    try {
      return Native.searchNearestPartitions(search, count, cancel == null ? 0 : cancel.handle());
    } finally {
      Native.searchFree(search);
    }
  }

  private long make(
      long address, ElementType type, long count, int width, ProbeOptions asked) {
    if (closed) {
      throw new KinjoException("state", "the probe was closed", dataset.uri(), -1);
    }
    return dataset.use(
        handle ->
            Native.searchMake(
                handle, address, type.word(), count, width, asked.names(), asked.values()));
  }

  /** How a block of vectors of this kind would be searched, as text; none is searched. */
  public String explain(ElementType type, int width, boolean verbose) {
    long vector = OffHeap.allocate((long) type.bytes() * width);
    try {
      long search = make(vector, type, 1, width, options);
      try {
        return Native.searchExplain(search, verbose);
      } finally {
        Native.searchFree(search);
      }
    } finally {
      OffHeap.free(vector);
    }
  }

  /** Gives the dataset back. Results that were started go on. A second close does nothing. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      SharedDatasets.release(dataset);
    }
  }
}
