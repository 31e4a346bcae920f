package io.kinjo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Probes answer as pylance does, block by block, and fail with the engine's errors. */
final class LanceProbeTest {
  private static final int WIDTH = 16;

  private static ProbeOptions ids() {
    return ProbeOptions.defaults().withRightSelect(Arrays.asList("id"));
  }

  /** -> ids of each vector's neighbours, in order. */
  private static List<List<Long>> neighbours(LanceProbe probe, float[] vectors, int width) {
    List<List<Long>> found = new ArrayList<>();
    for (int i = 0; i < vectors.length / width; i++) {
      found.add(new ArrayList<>());
    }
    try (ProbeResult result = probe.probe(vectors, width, null)) {
      int id = result.indexOf("id");
      int query = result.indexOf("_query_index");
      while (result.next()) {
        for (long row = 0; row < result.rows(); row++) {
          found.get((int) result.column(query).getLong(row)).add(result.column(id).getLong(row));
        }
      }
    }
    return found;
  }

  @ParameterizedTest
  @ValueSource(strings = {"pq8_l2", "pq8_cosine", "flat_l2", "hnsw_sq", "deletes"})
  void answersAsPylanceDoes(String name) throws Exception {
    JsonNode golden = Golden.search(name);
    float[] queries = Golden.vectors(golden.get("queries"));
    int width = golden.get("queries").get(0).size();
    for (JsonNode search : golden.get("searches")) {
      if (search.get("refine_factor").isNull()) {
        continue; // estimated distances: ties fall differently
      }
      ProbeOptions options =
          ids()
              .with("k", golden.get("k").asLong())
              .with("nprobes", search.get("nprobes").asLong())
              .with("refine_factor", search.get("refine_factor").asLong());
      if (search.has("ef")) {
        options = options.with("ef", search.get("ef").asLong());
      }
      List<List<Long>> expected = new ArrayList<>();
      search.get("ids").forEach(row -> {
        List<Long> one = new ArrayList<>();
        row.forEach(id -> one.add(id.asLong()));
        expected.add(one);
      });
      try (LanceProbe probe = LanceProbe.open(Golden.dataset(name), latest(name), options)) {
        assertEquals(expected, neighbours(probe, queries, width), search.toString());
      }
    }
  }

  private static long latest(String name) {
    try (Dataset dataset = Dataset.open(Golden.dataset(name), Dataset.LATEST)) {
      return dataset.version();
    }
  }

  @Test
  void blockAnswersAsOneByOne() throws Exception {
    JsonNode golden = Golden.search("pq8_l2");
    float[] queries = Golden.vectors(golden.get("queries"));
    try (LanceProbe probe = LanceProbe.open(Golden.dataset("pq8_l2"), 2, ids())) {
      List<List<Long>> block = neighbours(probe, queries, WIDTH);
      for (int i = 0; i < block.size(); i++) {
        float[] one = Arrays.copyOfRange(queries, i * WIDTH, (i + 1) * WIDTH);
        assertEquals(block.subList(i, i + 1), neighbours(probe, one, WIDTH));
      }
    }
  }

  @Test
  void vectorsThatAreNotFiniteMatchNothing() {
    float[] two = new float[2 * WIDTH];
    two[3] = Float.NaN;
    try (LanceProbe probe = LanceProbe.open(Golden.dataset("pq8_l2"), 2, ids())) {
      List<List<Long>> found = neighbours(probe, two, WIDTH);
      assertEquals(0, found.get(0).size());
      assertEquals(10, found.get(1).size());
    }
  }

  @Test
  void noVectorsGiveNoBatch() {
    try (LanceProbe probe = LanceProbe.open(Golden.dataset("pq8_l2"), 2, ids());
        ProbeResult result = probe.probe(new float[0], WIDTH, null)) {
      assertFalse(result.next());
      assertFalse(result.next());
    }
  }

  @Test
  void reportTellsWhatWasRead() throws Exception {
    ProbeResult result;
    try (LanceProbe probe =
        LanceProbe.open(Golden.dataset("pq8_l2"), 2, ids().with("nprobes", 1))) {
      result = probe.probe(new float[WIDTH], WIDTH, null);
      while (result.next()) {
        assertEquals(10, result.rows());
      }
      result.close();
    }
    JsonNode report = new ObjectMapper().readTree(result.report());
    assertEquals(1, report.get("left_rows").asLong());
    assertEquals(1, report.get("partitions_probed").asLong());
  }

  @Test
  void explainNamesThePath() {
    try (LanceProbe probe = LanceProbe.open(Golden.dataset("pq8_l2"), 2, ids())) {
      assertTrue(probe.explain(ElementType.FLOAT32, WIDTH, false).contains("IVF_PQ"));
    }
  }

  @Test
  void raisedCancelStopsTheProbe() {
    Cancel cancel = new Cancel();
    cancel.raise();
    try (LanceProbe probe = LanceProbe.open(Golden.dataset("pq8_l2"), 2, ids());
        ProbeResult result = probe.probe(new float[WIDTH], WIDTH, cancel)) {
      KinjoException failure = assertThrows(KinjoException.class, result::next);
      assertEquals("cancelled", failure.code());
    }
  }

  @Test
  void readsAfterCloseAreStateErrors() {
    LanceProbe probe = LanceProbe.open(Golden.dataset("pq8_l2"), 2, ids());
    ProbeResult result = probe.probe(new float[WIDTH], WIDTH, null);
    result.close();
    result.close();
    assertEquals("state", assertThrows(KinjoException.class, result::next).code());
    probe.close();
    probe.close();
    KinjoException failure =
        assertThrows(KinjoException.class, () -> probe.probe(new float[WIDTH], WIDTH, null));
    assertEquals("state", failure.code());
  }

  @Test
  void errorsCarryTheirCode() {
    KinjoException unknown =
        assertThrows(
            KinjoException.class, () -> ProbeOptions.defaults().with("nprobe", 3).check());
    assertEquals("invalid", unknown.code());
    assertTrue(unknown.getMessage().contains("\"nprobe\""), unknown.getMessage());
    assertTrue(unknown.getMessage().contains("refine_factor"), unknown.getMessage());

    KinjoException bound =
        assertThrows(KinjoException.class, () -> ProbeOptions.defaults().with("k", 0).check());
    assertTrue(bound.getMessage().contains("k must be at least 1"), bound.getMessage());

    KinjoException text =
        assertThrows(
            KinjoException.class, () -> ProbeOptions.defaults().with("k", "ten").check());
    assertTrue(text.getMessage().contains("\"ten\""), text.getMessage());

    KinjoException missing =
        assertThrows(
            KinjoException.class, () -> LanceProbe.open("/no/such.lance", 1, ids()));
    assertEquals("not_found", missing.code());
  }

  @Test
  void textsCrossWhole() {
    // Two, three and four bytes of UTF-8, the last a pair of surrogates.
    String odd = "\u00e9\u4e2d\ud834\udd1e";
    KinjoException failure =
        assertThrows(
            KinjoException.class, () -> ProbeOptions.defaults().with("metric", odd).check());
    assertTrue(failure.getMessage().contains(odd), failure.getMessage());
  }

  @Test
  void manyThreadsShareOneDataset() throws Exception {
    JsonNode golden = Golden.search("deltas");
    float[] queries = Golden.vectors(golden.get("queries"));
    long version = latest("deltas");
    List<List<Long>> expected;
    try (LanceProbe probe = LanceProbe.open(Golden.dataset("deltas"), version, ids())) {
      expected = neighbours(probe, queries, WIDTH);
    }
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try {
      List<Future<List<List<Long>>>> answers = new ArrayList<>();
      for (int task = 0; task < 32; task++) {
        answers.add(
            pool.submit(
                () -> {
                  try (LanceProbe probe =
                      LanceProbe.open(Golden.dataset("deltas"), version, ids())) {
                    return neighbours(probe, queries, WIDTH);
                  }
                }));
      }
      for (Future<List<List<Long>>> answer : answers) {
        assertEquals(expected, answer.get());
      }
    } finally {
      pool.shutdownNow();
    }
  }
}
