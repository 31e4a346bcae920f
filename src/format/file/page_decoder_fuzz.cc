// Fuzz target: the page decoders without the container around them. Input: a byte that picks the
// column's type, a byte that picks the layout message, u8 rows, four u16 sizes, then the layout
// message and up to three buffers of these sizes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "arrow/buffer.h"
#include "format/file/column.h"
#include "format/file/nested.h"
#include "io/random_reader.h"

namespace {

using kinjo::format::ColumnMap;
using kinjo::format::Field;
using kinjo::format::RowRange;
using kinjo::format::file::BuildArray;
using kinjo::format::file::Column;
using kinjo::format::file::ColumnSink;
using kinjo::format::file::FieldPlan;
using kinjo::format::file::PlanField;
namespace proto = kinjo::format::proto;

constexpr size_t kHeaderBytes = 11;
constexpr std::array<const char*, 16> kTypes = {"int32",
                                                "int64",
                                                "float",
                                                "bool",
                                                "string",
                                                "large_string",
                                                "uint8",
                                                "int16",
                                                "binary",
                                                "decimal:128:20:2",
                                                "fixed_size_list:float:4",
                                                "fixed_size_list:bool:3",
                                                "fixed_size_list:fixed_size_list:float:3:2",
                                                "null",
                                                "fixed_size_binary:33",
                                                "dict:string:int32:false"};

Field MakeField(uint8_t pick) {
  Field leaf;
  leaf.id = 0;
  leaf.name = "item";
  leaf.logical_type = kTypes[pick % kTypes.size()];
  if (pick < 128) return leaf;
  Field list;
  list.id = 1;
  list.name = "list";
  list.logical_type = pick < 192 ? "list" : "struct";
  list.children.push_back(leaf);
  return list;
}

void ReadColumn(Column* column, const FieldPlan& plan, const std::vector<RowRange>& ranges) {
  uint64_t total = 0;
  for (const RowRange& range : ranges) total += range.end - range.begin;
  std::vector<std::unique_ptr<ColumnSink>> sinks;
  sinks.push_back(std::make_unique<ColumnSink>(plan.leaves[0].shape, total));
  if (!column->Read(plan.leaves[0].shape, ranges, sinks[0].get(), nullptr).ok()) return;
  auto data = BuildArray(plan, &sinks, total, "fuzz");
  if (data.ok() && !arrow::MakeArray(*data)->Validate().ok()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kHeaderBytes) return 0;
  const Field field = MakeField(data[0]);
  const uint64_t rows = uint64_t{data[2]} * 8;
  std::array<size_t, 4> sizes;
  size_t position = kHeaderBytes;
  proto::Page page;
  page.length = rows;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t asked = data[3 + 2 * i] | (size_t{data[4 + 2 * i]} << 8);
    sizes[i] = std::min(asked, size - position);
    if (i == 0) {
      page.encoding.value.assign(reinterpret_cast<const char*>(data) + position, sizes[i]);
    } else if (sizes[i] > 0) {
      page.buffer_offsets.push_back(position);
      page.buffer_sizes.push_back(sizes[i]);
    }
    position += sizes[i];
  }
  page.encoding.kind = proto::Encoding::Kind::kDirect;
  page.encoding.type_url =
      data[1] < 192 ? "/lance.encodings21.PageLayout" : "/lance.encodings.ArrayEncoding";
  proto::ColumnMetadata metadata;
  metadata.pages.push_back(std::move(page));
  auto reader = kinjo::io::OpenBuffer(arrow::Buffer::Wrap(data, size), "fuzz");
  auto column = Column::Make(reader, std::make_shared<kinjo::format::PageCache>(), 0, rows,
                             std::move(metadata));
  auto plan = PlanField(field, ColumnMap{{0, 0}});
  if (!column.ok() || !plan.ok() || rows == 0) return 0;
  ReadColumn(column->get(), *plan, {{0, rows}});
  ReadColumn(column->get(), *plan, {{1, 2}, {rows / 2, rows - 1}});
  return 0;
}
