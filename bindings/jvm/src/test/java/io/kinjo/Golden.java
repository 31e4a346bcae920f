package io.kinjo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;

/** The datasets below tests/golden, which pylance wrote, and what it answered. */
final class Golden {
  private Golden() {}

  static Path folder() {
    return Paths.get(System.getProperty("kinjo.golden"));
  }

  static String dataset(String name) {
    return folder().resolve(name + ".lance").toString();
  }

  static JsonNode search(String name) throws IOException {
    return new ObjectMapper().readTree(folder().resolve(name + ".search.json").toFile());
  }

  /** Numbers of nested lists, row after row. */
  static float[] vectors(JsonNode rows) {
    int width = rows.get(0).size();
    float[] values = new float[rows.size() * width];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) rows.get(i / width).get(i % width).asDouble();
    }
    return values;
  }
}
