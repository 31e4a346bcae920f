// k-means as an index build runs it: reads raw float32 rows and prints seconds, cost (mean squared
// distance), passes over all rows and imbalance of the clusters.
//
// training_bench ROWS.f32 DIM CLUSTERS THREADS [TOLERANCE]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "index/kmeans.h"

namespace kinjo::bench {
namespace {

std::vector<float> ReadFloats(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<float> values(static_cast<size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

int Main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  const std::vector<float> rows = ReadFloats(argv[1]);
  const int64_t dim = std::atoll(argv[2]);
  base::ThreadPool pool(std::atoi(argv[4]));
  const index::BuildContext context{.pool = &pool, .cancel = {}, .progress = {}};
  index::KMeansOptions options{.num_clusters = std::atoll(argv[3])};
  if (argc == 6) options.tolerance = std::atof(argv[5]);
  const auto start = std::chrono::steady_clock::now();
  const auto trained = index::TrainKMeans(rows.data(), static_cast<int64_t>(rows.size()) / dim, dim,
                                          options, context);
  if (!trained.ok()) return 1;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::printf("%.3f %.9g %d %.3f\n", taken.count(), trained->cost, trained->iterations,
              trained->imbalance());
  return 0;
}

}  // namespace
}  // namespace kinjo::bench

int main(int argc, char** argv) { return kinjo::bench::Main(argc, argv); }
