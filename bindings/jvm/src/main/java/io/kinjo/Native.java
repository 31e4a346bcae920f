package io.kinjo;

/**
 * The native methods, as bindings/jvm/native/natives.cc has them. Handles are addresses of C++
 * objects: the classes beside this one own them, and free each once.
 */
final class Native {
  /** A number that isn't given. */
  static final long UNSET = -1;

  static {
    NativeLibrary.load();
  }

  private Native() {}

  static native String version();

  static native String describeRuntime();

  /** `fragments`: the snapshot is of these alone; null: of all. */
  static native long datasetOpen(String uri, long version, String tag, long[] fragments);

  static native void datasetFree(long dataset);

  /** Version, live rows, fragments, vector indexes. */
  static native long[] datasetInfo(long dataset);

  static native String datasetDescribe(long dataset);

  /** Fills the ArrowSchema at the address. */
  static native void datasetSchema(long dataset, long schemaAddress);

  /**
   * Starts a scan: a stream. Null or {@link #UNSET}: all columns, rows, fragments; {@code cancel}
   * is a handle or 0.
   */
  static native long datasetScan(
      long dataset, String[] columns, String where, long limit, long[] fragments, long cancel);

  static native void optionsCheck(String[] names, String[] texts);

  /** Copies the vectors, so their memory may be freed or filled anew at once. */
  static native long searchMake(
      long dataset,
      long vectorsAddress,
      String elementType,
      long count,
      long width,
      String[] names,
      String[] texts);

  static native void searchFree(long search);

  static native String searchExplain(long search, boolean verbose);

  static native String searchReport(long search);

  /** Starts the search; {@code cancel} is a handle or 0. */
  static native long searchRun(long search, long cancel);

  /**
   * Of each of the {@code count} vectors; {@code cancel} is a handle or 0. Instead of a run.
   */
  static native int[] searchNearestPartitions(long search, long count, long cancel);

  /** A model, as text. Names are those of kinjo_index_options; {@code cancel} is a handle or 0. */
  static native String indexTrain(String uri, String[] names, String[] texts, long cancel);

  /** A segment, as text. */
  static native String indexBuildSegment(
      String uri, String[] names, String[] texts, long[] fragments, long cancel);

  /** The new version. */
  static native long indexCommit(String uri, String[] segments, String name, boolean replace);

  /** Fills the ArrowArray at the address; false at the end. */
  static native boolean streamNext(long stream, long arrayAddress);

  static native void streamSchema(long stream, long schemaAddress);

  /** Stops what still runs and waits for it. */
  static native void streamFree(long stream);

  static native long cancelMake();

  static native void cancelRaise(long cancel);

  static native void cancelFree(long cancel);

  static native void schemaRelease(long schemaAddress);

  static native void arrayRelease(long arrayAddress);
}
