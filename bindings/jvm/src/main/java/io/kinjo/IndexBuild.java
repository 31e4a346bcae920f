package io.kinjo;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Building one vector index in several processes: a model is trained once, each process builds the
 * segment of some fragments with it, and the segments are committed together. Models and segments
 * are texts.
 *
 * <p>Options are those of {@code kinjo_index_options}, by name: column, type, metric,
 * num_partitions, ... All calls of one index are given the same.
 */
public final class IndexBuild {
  private IndexBuild() {}

  /** Learns from a sample of all rows of the latest version; {@code cancel} may be null. */
  public static String train(String uri, Map<String, String> options, Cancel cancel) {
    return Native.indexTrain(uri, names(options), texts(options), handle(cancel));
  }

  /** Builds the files of a segment, and commits nothing. */
  public static String buildSegment(
      String uri, Map<String, String> options, String model, long[] fragments, Cancel cancel) {
    Map<String, String> all = new TreeMap<>(options);
    all.put("model", model);
    return Native.indexBuildSegment(uri, names(all), texts(all), fragments, handle(cancel));
  }

  /** Commits the segments as one index and gives the new version; name "": chosen. */
  public static long commit(String uri, List<String> segments, String name, boolean replace) {
    return Native.indexCommit(uri, segments.toArray(new String[0]), name, replace);
  }

  private static String[] names(Map<String, String> options) {
    return new TreeMap<>(options).keySet().toArray(new String[0]);
  }

  private static String[] texts(Map<String, String> options) {
    return new TreeMap<>(options).values().toArray(new String[0]);
  }

  private static long handle(Cancel cancel) {
    return cancel == null ? 0 : cancel.handle();
  }
}
