// Joins a table to a Lance dataset and writes Parquet, with progress, Ctrl-C and a closing report:
//
//     neighbours_to_parquet LEFT RIGHT COLUMN OUTPUT
//
// Build: c++ -std=c++20 -I include examples/cpp/neighbours_to_parquet.cc
//            -L build/release/src/capi -lkinjo -o neighbours_to_parquet
#include <csignal>
#include <cstdio>

#include "kinjo/kinjo.hpp"

namespace {

const kinjo::Cancel* interrupt = nullptr;

int Fail(const kinjo::Error& error) {
  std::fprintf(stderr, "%s: %s\n", kinjo_error_code_name(error.code), error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: neighbours_to_parquet LEFT RIGHT COLUMN OUTPUT\n");
    return 2;
  }
  const auto left = kinjo::Table::Open(argv[1]);
  if (!left.ok()) return Fail(left.error());

  kinjo::JoinOptions options;
  options.k = 5;
  options.on = argv[3];
  options.refine_factor = 4;
  auto join = kinjo::Join::Make(left.value(), argv[2], options);
  if (!join.ok()) return Fail(join.error());

  const auto plan = join->Explain();
  if (!plan.ok()) return Fail(plan.error());
  std::printf("%s\n", plan.value().c_str());

  const auto cancel = kinjo::Cancel::Make();
  if (!cancel.ok()) return Fail(cancel.error());
  interrupt = &cancel.value();
  std::signal(SIGINT, [](int) { interrupt->Raise(); });

  const kinjo::ProgressFunction progress = [](const kinjo_progress& now) {
    std::fprintf(stderr, "%lld of %lld rows\n", static_cast<long long>(now.done_rows),
                 static_cast<long long>(now.total_rows));
  };
  const auto rows = join->Write(argv[4], {}, {&cancel.value(), &progress});
  if (!rows.ok()) return Fail(rows.error());

  const auto report = join->Report();
  if (!report.ok()) return Fail(report.error());
  std::printf("%lld rows from %lld left rows in %.2f s\n", static_cast<long long>(rows.value()),
              static_cast<long long>(report.value().left_rows), report.value().total_s);
  return 0;
}
