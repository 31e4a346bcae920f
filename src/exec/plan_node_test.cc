#include "exec/plan_node.h"

#include <gtest/gtest.h>

namespace kinjo::exec {
namespace {

TEST(PlanNode, RendersFieldsDetailsAndMetrics) {
  PlanNode child{.name = "Take", .metrics = {{"elapsed_compute", "1s"}}};
  PlanNode root{.name = "KnnJoin",
                .fields = {{"k", "10"}, {"metric", "l2"}},
                .details = {{"reason", "none better"}},
                .metrics = {{"output_rows", "5"}},
                .inputs = {child}};
  EXPECT_EQ(RenderPlan(root, {}), "KnnJoin: k=10, metric=l2\n  Take\n");
  EXPECT_EQ(RenderPlan(root, {.details = true, .metrics = true}),
            "KnnJoin: k=10, metric=l2, metrics=[output_rows=5]\n  · reason: none better\n"
            "  Take: metrics=[elapsed_compute=1s]\n");
}

}  // namespace
}  // namespace kinjo::exec
