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

TEST(PlanNode, TheTreeFormHasOneFieldALine) {
  const PlanNode child{.name = "Take", .fields = {{"columns", "[id]"}}};
  const PlanNode root{.name = "KnnJoin",
                      .fields = {{"k", "10"}, {"metric", "l2"}},
                      .details = {{"reason", "none better"}},
                      .metrics = {{"output_rows", "5"}, {"left_rows", "1"}},
                      .inputs = {child}};
  EXPECT_EQ(RenderPlan(root, {.field_lines = true}),
            "KnnJoin\nk=10\nmetric=l2\n  Take\n  columns=[id]\n");
  EXPECT_EQ(RenderPlan(root, {.details = true, .metrics = true, .field_lines = true}),
            "KnnJoin\nk=10\nmetric=l2\nmetrics=[output_rows=5, left_rows=1]\n"
            "  · reason: none better\n  Take\n  columns=[id]\n");
}

}  // namespace
}  // namespace kinjo::exec
