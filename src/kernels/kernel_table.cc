// Compiles the bodies of the *-inl.h files once for each SIMD level. Nothing here has external
// linkage but the two functions at the end, and nothing needs code to run at load.
#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/kernel_table.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"
#include "kernels/block_scan-inl.h"
#include "kernels/byte_scan-inl.h"
#include "kernels/canonical_distance-inl.h"
#include "kernels/code_fit-inl.h"
#include "kernels/code_rows-inl.h"
#include "kernels/code_scan-inl.h"
#include "kernels/kernel_table.h"
#include "kernels/nearest_row-inl.h"
#include "kernels/node_distance-inl.h"
#include "kernels/rotate_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kinjo::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr KernelTable kTable = {
    .l2_ff = &L2<float, float>,
    .l2_df = &L2<double, float>,
    .l2_dd = &L2<double, double>,
    .l2_residual = &L2Residual,
    .dot_ff = &Dot<float, float>,
    .dot_df = &Dot<double, float>,
    .dot_dd = &Dot<double, double>,
    .l2_hits_ff = &L2Hits<float, float>,
    .l2_hits_df = &L2Hits<double, float>,
    .dot_hits_ff = &DotHits<float, float>,
    .dot_hits_df = &DotHits<double, float>,
    .move_query_f = &MoveQuery<float>,
    .move_query_d = &MoveQuery<double>,
    .node_l2 = {&NodeSums<NodeL2Terms, float>, &NodeSums<NodeL2Terms, hwy::float16_t>,
                &NodeSums<NodeL2Terms, uint8_t>},
    .node_dot = {&NodeSums<NodeDotTerms, float>, &NodeSums<NodeDotTerms, hwy::float16_t>,
                 &NodeSums<NodeDotTerms, uint8_t>},
    .node_cosine = {&NodeSums<NodeCosineTerms, float>, &NodeSums<NodeCosineTerms, hwy::float16_t>},
    .hamming = &Hamming,
    .scan_block = &Scan,
    .score_block = &Score,
#if KINJO_KERNELS_HAVE_CODES
    .scan_codes = &ScanCodes,
    .score_codes = &ScoreCodes,
    .make_group_codes = &MakeGroupCodes,
    .scan_bytes = &ScanBytes,
    .least_bytes = &LeastBytes,
    .group_rows_of_bytes = &GroupRowsOfBytes,
    .sum_query_bytes = &SumQueryBytes,
#else
    .scan_codes = nullptr,
    .score_codes = nullptr,
    .make_group_codes = nullptr,
    .scan_bytes = nullptr,
    .least_bytes = nullptr,
    .group_rows_of_bytes = nullptr,
    .sum_query_bytes = nullptr,
#endif
    .find_nearest = &FindNearest,
    .fit_sums = &FitSums,
    .rotate_rows = &Rotate,
    .fill_group = &FillGroup,
    .group_bytes = &GroupBytes,
    .group_scaled = &GroupScaled,
    .double_codes = &DoubleCodes,
};

const KernelTable* Table() { return &kTable; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kinjo::kernels {
namespace {
HWY_EXPORT(Table);
}  // namespace

int64_t CompiledTargets() { return HWY_TARGETS; }

const KernelTable* KernelTableOf(int64_t target) {
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
  static_cast<void>(target);
  return HWY_STATIC_DISPATCH(Table)();
#else
  hwy::ChosenTarget chosen;
  chosen.Update(target);
  return HWY_DISPATCH_TABLE(Table)[chosen.GetIndex()]();
#endif
}

}  // namespace kinjo::kernels
#endif  // HWY_ONCE
