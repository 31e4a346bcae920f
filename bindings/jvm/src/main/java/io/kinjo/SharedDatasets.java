package io.kinjo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The datasets of this JVM, each version opened once, whatever number of tasks probe it. One that
 * nobody uses any more stays open for the next task, until {@value #KEPT_UNUSED} others came after
 * it.
 */
public final class SharedDatasets {
  static final int KEPT_UNUSED = 2;

  /** A dataset and how many hold it. */
  private static final class Entry {
    final Dataset dataset;
    int holders;

    Entry(Dataset dataset) {
      this.dataset = dataset;
    }
  }

  // In the order of last use, the longest unused first.
  private static final Map<String, Entry> ENTRIES = new LinkedHashMap<>(16, 0.75f, true);

  private SharedDatasets() {}

  private static String keyOf(String uri, long version, long[] fragments) {
    return version + " " + Arrays.toString(fragments) + " " + uri;
  }

  /** The dataset at a fixed version; {@link #release} gives it back. */
  public static Dataset acquire(String uri, long version) {
    return acquire(uri, version, null);
  }

  /** The same of some fragments alone; null: of all. */
  public static Dataset acquire(String uri, long version, long[] fragments) {
    if (version < 1) {
      throw new IllegalArgumentException(
          "version = " + version + " must be a fixed one, at least 1");
    }
    synchronized (ENTRIES) {
      String key = keyOf(uri, version, fragments);
      Entry entry = ENTRIES.get(key);
      if (entry == null) {
        entry = new Entry(Dataset.openFragments(uri, version, fragments));
        ENTRIES.put(key, entry);
      }
      entry.holders++;
      return entry.dataset;
    }
  }

  /** Gives a dataset back that {@link #acquire} gave. */
  public static void release(Dataset dataset) {
    List<Dataset> closing = new ArrayList<>();
    synchronized (ENTRIES) {
      Entry entry = ENTRIES.get(keyOf(dataset.uri(), dataset.version(), dataset.openedFragments()));
      if (entry == null || entry.dataset != dataset || entry.holders == 0) {
        throw new IllegalStateException(dataset.uri() + " isn't held");
      }
      entry.holders--;
      dropUnused(closing);
    }
    closing.forEach(Dataset::close);
  }

  private static void dropUnused(List<Dataset> closing) {
    long unused = ENTRIES.values().stream().filter(entry -> entry.holders == 0).count();
    Iterator<Entry> entries = ENTRIES.values().iterator();
    while (unused > KEPT_UNUSED) {
      Entry entry = entries.next();
      if (entry.holders == 0) {
        entries.remove();
        closing.add(entry.dataset);
        unused--;
      }
    }
  }

  /** How many are open. */
  static int openCount() {
    synchronized (ENTRIES) {
      return ENTRIES.size();
    }
  }
}
