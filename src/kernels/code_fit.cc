#include "kernels/code_fit.h"

#include <cmath>

#include "kernels/kernel_table.h"

namespace kinjo::kernels {
namespace {

template <int kHalf>
void AddUpperHalf(float* products, float* squares) {
  for (int lane = 0; lane < kHalf; ++lane) {
    products[lane] += products[lane + kHalf];
    squares[lane] += squares[lane + kHalf];
  }
}

}  // namespace

double CodeCosine(const CodeFit& fit, float scale) {
  float products[kFitLanes];
  float squares[kFitLanes];
  Kernels().fit_sums(fit, scale, products, squares);
  AddUpperHalf<8>(products, squares);
  AddUpperHalf<4>(products, squares);
  AddUpperHalf<2>(products, squares);
  AddUpperHalf<1>(products, squares);
  return products[0] / std::sqrt(static_cast<double>(squares[0]));
}

}  // namespace kinjo::kernels
