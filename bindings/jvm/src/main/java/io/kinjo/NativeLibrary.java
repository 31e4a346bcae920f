package io.kinjo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Loads libkinjo_jni and the libraries it needs. They come out of the class path, from
 * native/PLATFORM/, whose index.txt begins with a hash of their content and then names them, or lie
 * in the folder that the system property {@value #FOLDER_PROPERTY} names.
 *
 * <p>The big libraries are unpacked once per JVM and content, whatever class loaders ask; the small
 * one, which the JVM lets only one class loader have, once per class loader.
 */
final class NativeLibrary {
  /** A folder with the libraries, used instead of unpacking them. */
  static final String FOLDER_PROPERTY = "kinjo.native.folder";

  private static final String ENTRY = "libkinjo_jni.so";
  private static final String UNPACKED_PROPERTY = "io.kinjo.unpacked.";

  private NativeLibrary() {}

  static void load() {
    String folder = System.getProperty(FOLDER_PROPERTY);
    Path library =
        folder != null ? Paths.get(folder).toAbsolutePath().resolve(ENTRY) : unpack();
    try {
      System.load(library.toString());
    } catch (UnsatisfiedLinkError e) {
      throw new UnsatisfiedLinkError(
          e.getMessage()
              + "; if "
              + library.getParent()
              + " lies on a file system without execute permission, set the system property "
              + "java.io.tmpdir or "
              + FOLDER_PROPERTY
              + " to another folder");
    }
  }

  private static String platform() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    if (machine.equals("amd64")) {
      machine = "x86_64";
    }
    return system + "-" + machine;
  }

  private static Path unpack() {
    String root = "/native/" + platform() + "/";
    try {
      List<String> index = readIndex(root);
      // Interned: the lock and the property are the JVM's, not the class loader's.
      String property = (UNPACKED_PROPERTY + index.get(0)).intern();
      synchronized (property) {
        String unpacked = System.getProperty(property);
        Path folder =
            unpacked != null ? Paths.get(unpacked) : unpackAll(root, index);
        System.setProperty(property, folder.toString());
        Path own = Files.createTempFile(folder, "kinjo", ".so");
        copy(root + ENTRY, own);
        return own;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("Kinjo's native libraries can't be unpacked", e);
    }
  }

  private static List<String> readIndex(String root) throws IOException {
    List<String> lines = new ArrayList<>();
    try (InputStream stream = NativeLibrary.class.getResourceAsStream(root + "index.txt")) {
      if (stream == null) {
        throw new IOException(
            "no libraries for this platform on the class path ("
                + root
                + "index.txt); add Kinjo's jar of native libraries");
      }
      BufferedReader reader =
          new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.add(line);
      }
    }
    return lines;
  }

  private static Path unpackAll(String root, List<String> index) throws IOException {
    Path folder = Files.createTempDirectory("kinjo-");
    // Registered first, so deleted last, when it is empty.
    folder.toFile().deleteOnExit();
    for (String name : index.subList(1, index.size())) {
      if (!name.equals(ENTRY)) {
        copy(root + name, folder.resolve(name));
      }
    }
    return folder;
  }

  private static void copy(String resource, Path target) throws IOException {
    target.toFile().deleteOnExit();
    Files.deleteIfExists(target);
    try (InputStream stream = NativeLibrary.class.getResourceAsStream(resource)) {
      if (stream == null) {
        throw new IOException("the class path has no " + resource);
      }
      Files.copy(stream, target);
    }
  }
}
