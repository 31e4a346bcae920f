package io.kinjo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

/** Each version is opened once, and closed when it has been unused for long enough. */
final class SharedDatasetsTest {
  private static final String[] NAMES = {"flat_l2", "pq8_dot", "pq8_cosine", "flat_cosine"};

  @Test
  void holdersShareOneAndUnusedOnesAreClosedInTheirOrder() {
    Dataset first = SharedDatasets.acquire(Golden.dataset("pq4_l2"), 2);
    assertSame(first, SharedDatasets.acquire(Golden.dataset("pq4_l2"), 2));
    SharedDatasets.release(first);

    // Held once more, so it outlives whatever comes after it.
    for (String name : NAMES) {
      SharedDatasets.release(SharedDatasets.acquire(Golden.dataset(name), 2));
    }
    assertEquals(700, first.rows());
    assertEquals(SharedDatasets.KEPT_UNUSED + 1, SharedDatasets.openCount());
    first.describe();

    SharedDatasets.release(first);
    for (String name : NAMES) {
      SharedDatasets.release(SharedDatasets.acquire(Golden.dataset(name), 2));
    }
    assertEquals("state", assertThrows(KinjoException.class, first::describe).code());
    Dataset again = SharedDatasets.acquire(Golden.dataset("pq4_l2"), 2);
    assertNotSame(first, again);
    SharedDatasets.release(again);
    assertThrows(IllegalStateException.class, () -> SharedDatasets.release(again));
  }

  @Test
  void onlyFixedVersionsAreShared() {
    assertThrows(
        IllegalArgumentException.class,
        () -> SharedDatasets.acquire(Golden.dataset("pq4_l2"), Dataset.LATEST));
  }
}
