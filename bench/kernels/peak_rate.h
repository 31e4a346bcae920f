// The most float32 multiply-adds that one core of this machine does, measured.
#pragma once

namespace kinjo::bench {

/// GFLOP/s of one run of about a millisecond at the best SIMD level: independent multiply-adds on
/// registers alone.
double PeakGflops();

}  // namespace kinjo::bench
