// Bodies of node_distance.h for one SIMD level. Multiply and add stay two instructions, each
// rounded (the build forbids contraction), so every level makes the same bits.

#if defined(KINJO_KERNELS_NODE_DISTANCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KINJO_KERNELS_NODE_DISTANCE_INL_H_
#undef KINJO_KERNELS_NODE_DISTANCE_INL_H_
#else
#define KINJO_KERNELS_NODE_DISTANCE_INL_H_
#endif

#include <cmath>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kinjo::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kNodeLanes = 32;
using NodeFloats = hn::CappedTag<float, kNodeLanes>;
constexpr int kNodeVectorLanes = hn::MaxLanes(NodeFloats());
constexpr int kNodeVectors = kNodeLanes / kNodeVectorLanes;

HWY_INLINE hn::Vec<NodeFloats> LoadNode(const float* from) { return hn::LoadU(NodeFloats(), from); }
HWY_INLINE hn::Vec<NodeFloats> LoadNode(const hwy::float16_t* from) {
  const hn::Rebind<hwy::float16_t, NodeFloats> halves;
  return hn::PromoteTo(NodeFloats(), hn::LoadU(halves, from));
}
HWY_INLINE hn::Vec<NodeFloats> LoadNode(const uint8_t* from) {
  const hn::Rebind<uint8_t, NodeFloats> bytes;
  const hn::Rebind<int32_t, NodeFloats> words;
  return hn::ConvertTo(NodeFloats(), hn::PromoteTo(words, hn::LoadU(bytes, from)));
}

// One sum in 32 lanes.
struct NodeLanes {
  hn::Vec<NodeFloats> vectors[kNodeVectors];

  HWY_INLINE void Clear() {
    for (auto& lanes : vectors) lanes = hn::Zero(NodeFloats());
  }
  HWY_INLINE float Tree() const {
    float lane[kNodeLanes];
    for (int v = 0; v < kNodeVectors; ++v) {
      hn::StoreU(vectors[v], NodeFloats(), lane + v * kNodeVectorLanes);
    }
    for (int half = kNodeLanes / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
    }
    return lane[0];
  }
};

// What is summed: Add takes one vector of each side. (No constructors: those that the compiler
// makes would lack the level's target.)
struct NodeL2Terms {
  NodeLanes sum;
  HWY_INLINE void Clear() { sum.Clear(); }
  HWY_INLINE void Add(int v, hn::Vec<NodeFloats> query, hn::Vec<NodeFloats> row) {
    const auto difference = hn::Sub(query, row);
    sum.vectors[v] = hn::Add(sum.vectors[v], hn::Mul(difference, difference));
  }
  HWY_INLINE float Result() const { return sum.Tree(); }
};
struct NodeDotTerms {
  NodeLanes sum;
  HWY_INLINE void Clear() { sum.Clear(); }
  HWY_INLINE void Add(int v, hn::Vec<NodeFloats> query, hn::Vec<NodeFloats> row) {
    sum.vectors[v] = hn::Add(sum.vectors[v], hn::Mul(query, row));
  }
  HWY_INLINE float Result() const { return sum.Tree(); }
};
struct NodeCosineTerms {
  NodeLanes dot;
  NodeLanes norm2;
  HWY_INLINE void Clear() {
    dot.Clear();
    norm2.Clear();
  }
  HWY_INLINE void Add(int v, hn::Vec<NodeFloats> query, hn::Vec<NodeFloats> row) {
    dot.vectors[v] = hn::Add(dot.vectors[v], hn::Mul(query, row));
    norm2.vectors[v] = hn::Add(norm2.vectors[v], hn::Mul(row, row));
  }
  HWY_INLINE float Result() const { return dot.Tree() / std::sqrt(norm2.Tree()); }
};

// The tail is padded with zeros, whose terms change nothing.
template <class Terms, class T>
HWY_INLINE float NodeSum(const float* query, const T* row, int64_t dim) {
  Terms terms;
  terms.Clear();
  int64_t j = 0;
  for (; j + kNodeLanes <= dim; j += kNodeLanes) {
    for (int v = 0; v < kNodeVectors; ++v) {
      const int64_t at = j + v * kNodeVectorLanes;
      terms.Add(v, LoadNode(query + at), LoadNode(row + at));
    }
  }
  if (j < dim) {
    float tail_query[kNodeLanes] = {};
    T tail_row[kNodeLanes] = {};
    for (int lane = 0; j + lane < dim; ++lane) {
      tail_query[lane] = query[j + lane];
      tail_row[lane] = row[j + lane];
    }
    for (int v = 0; v < kNodeVectors; ++v) {
      const int at = v * kNodeVectorLanes;
      terms.Add(v, LoadNode(tail_query + at), LoadNode(tail_row + at));
    }
  }
  return terms.Result();
}

template <class Terms, class T>
void NodeSums(const float* query, const void* rows, int64_t dim, const uint32_t* nodes,
              int64_t count, float* out) {
  const T* base = static_cast<const T*>(rows);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = NodeSum<Terms>(query, base + int64_t{nodes[i]} * dim, dim);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
