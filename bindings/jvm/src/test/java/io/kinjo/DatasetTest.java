package io.kinjo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What a dataset tells of itself, and its rows. */
final class DatasetTest {

  private static long count(BatchReader reader) {
    try (BatchReader owned = reader) {
      long rows = 0;
      while (owned.next()) {
        rows += owned.rows();
      }
      return rows;
    }
  }

  @Test
  void tellsItsVersionRowsAndColumns() {
    try (Dataset dataset = Dataset.open(Golden.dataset("deltas"), Dataset.LATEST)) {
      assertEquals(6, dataset.version());
      assertEquals(857, dataset.rows());
      assertEquals(4, dataset.fragments());
      assertEquals(1, dataset.vectorIndexes());
      assertEquals(
          "id: l, name: u, vec: +w:16[item: f]",
          dataset.columns().stream().map(ArrowField::toString).collect(Collectors.joining(", ")));
      assertTrue(dataset.describe().startsWith("{"));
    }
  }

  @Test
  void opensByVersionAndTag() {
    try (Dataset old = Dataset.open(Golden.dataset("changed_columns"), 2);
        Dataset tagged = Dataset.openTag(Golden.dataset("changed_columns"), "before_the_rename")) {
      assertEquals(old.columns().toString(), tagged.columns().toString());
      assertEquals(2, tagged.version());
    }
    KinjoException failure =
        assertThrows(
            KinjoException.class, () -> Dataset.openTag(Golden.dataset("changed_columns"), "no"));
    assertEquals("not_found", failure.code());
  }

  @Test
  void scansByColumnsFilterLimitAndFragments() {
    try (Dataset dataset = Dataset.open(Golden.dataset("deltas"), Dataset.LATEST)) {
      assertEquals(857, count(dataset.scan(null, null, -1, null, null)));
      assertEquals(5, count(dataset.scan(new String[] {"id"}, null, 5, null, null)));
      long rows = 0;
      for (long fragment = 0; fragment < 4; fragment++) {
        rows += count(dataset.scan(null, null, -1, new long[] {fragment}, null));
      }
      assertEquals(857, rows);
      String[] columns = {"name", "id"};
      try (BatchReader few = dataset.scan(columns, "id >= 100", 3, null, null)) {
        assertEquals(1, few.indexOf("id"));
        assertEquals(-1, few.indexOf("vec"));
        assertTrue(few.next());
        assertEquals(3, few.rows());
        assertTrue(few.column(1).getLong(0) >= 100);
      }
    }
  }

  @Test
  void failsWithTheEnginesErrors() {
    try (Dataset dataset = Dataset.open(Golden.dataset("deltas"), Dataset.LATEST)) {
      KinjoException failure =
          assertThrows(KinjoException.class, () -> dataset.scan(null, "id <", -1, null, null));
      assertEquals("invalid", failure.code());
    }
  }

  @Test
  void useAfterCloseIsAStateError() {
    Dataset dataset = Dataset.open(Golden.dataset("deltas"), Dataset.LATEST);
    dataset.close();
    dataset.close();
    assertEquals("state", assertThrows(KinjoException.class, dataset::describe).code());
  }
}
