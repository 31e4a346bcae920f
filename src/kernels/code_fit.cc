#include "kernels/code_fit.h"

#include <cmath>

#include "kernels/kernel_table.h"

namespace kinjo::kernels {

double CodeCosine(const CodeFit& fit, float scale) {
  float products[kFitLanes];
  float squares[kFitLanes];
  Kernels().fit_sums(fit, scale, products, squares);
  for (int64_t half = kFitLanes / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) {
      products[lane] += products[lane + half];
      squares[lane] += squares[lane + half];
    }
  }
  return products[0] / std::sqrt(static_cast<double>(squares[0]));
}

}  // namespace kinjo::kernels
