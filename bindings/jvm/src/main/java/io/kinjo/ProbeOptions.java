package io.kinjo;

import java.io.Serializable;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a probe is asked, as names and texts: those of {@code kinjo_join_options}, for example k,
 * nprobes, refine_factor, metric, where. Immutable.
 */
public final class ProbeOptions implements Serializable {
  private static final long serialVersionUID = 1L;

  private final TreeMap<String, String> texts;

  private ProbeOptions(TreeMap<String, String> texts) {
    this.texts = texts;
  }

  /** All defaults: the 10 nearest, by the index that fits. */
  public static ProbeOptions defaults() {
    return new ProbeOptions(new TreeMap<>());
  }

  /** The same with one option set. */
  public ProbeOptions with(String name, String text) {
    TreeMap<String, String> more = new TreeMap<>(texts);
    more.put(name, text);
    return new ProbeOptions(more);
  }

  public ProbeOptions with(String name, long number) {
    return with(name, Long.toString(number));
  }

  /** The right columns to give; names must not hold a comma. */
  public ProbeOptions withRightSelect(List<String> names) {
    return with("right_select", String.join(",", names));
  }

  public Map<String, String> asMap() {
    return Collections.unmodifiableMap(texts);
  }

  /** Throws {@link KinjoException} ("invalid") when an option is unknown or out of its bounds. */
  public void check() {
    Native.optionsCheck(names(), values());
  }

  String[] names() {
    return texts.keySet().toArray(new String[0]);
  }

  String[] values() {
    return texts.values().toArray(new String[0]);
  }

  @Override
  public String toString() {
    return texts.toString();
  }
}
