// The pages of a column: what every layout offers to who reads rows.
//
// A page is read in three steps so that the bytes of many pages come in few requests: its state
// (index, dictionary; kept between reads), the lookups of one read (where variable-width rows lie),
// and the data.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrow/buffer.h"
#include "format/file/bytes.h"
#include "format/file/leaf_type.h"
#include "format/file/levels.h"
#include "format/file/page_cache.h"
#include "format/file/scratch.h"
#include "format/file/value_sink.h"
#include "format/proto/file_messages.h"
#include "io/random_reader.h"

namespace kinjo::format::file {

/// A leaf of the schema as its column stores it.
struct LeafColumn {
  LeafType type;
  SchemaLayers layers;  ///< of the leaf and of the structs and lists above it, innermost first
  bool is_dictionary = false;  ///< the schema says Arrow's dictionary type; `type` is its values'
};

/// Collects what is read of one leaf column.
struct ColumnSink {
  ColumnSink(const LeafColumn& leaf, uint64_t rows) : expected_rows(rows), values(leaf.type) {}
  const uint64_t expected_rows;  ///< rows that the whole read asks for
  ValueSink values;              ///< one slot for each visible entry
  Levels levels;
};

using Buffers = std::span<const std::shared_ptr<arrow::Buffer>>;

/// Rows of one page being read. Made by Page::Start, used by one thread, then dropped.
class PageRead {
 public:
  virtual ~PageRead() = default;
  /// Adds the ranges to be read before PlanData. Most layouts have none.
  virtual arrow::Status PlanLookups(std::vector<io::ByteRange>* /*ranges*/) {
    return arrow::Status::OK();
  }
  /// Adds the ranges that hold the rows; `lookups` answers PlanLookups.
  virtual arrow::Status PlanData(Buffers lookups, std::vector<io::ByteRange>* ranges) = 0;
  /// Decodes; `data` answers PlanData.
  virtual arrow::Status Decode(Buffers data, Scratch* scratch, ColumnSink* sink) = 0;
};

/// One page. Immutable; thread-safe.
class Page {
 public:
  virtual ~Page() = default;
  /// The ranges that the page's state is made of; none for a page without one.
  virtual std::vector<io::ByteRange> StateRanges() const { return {}; }
  /// Makes the state; `buffers` answers StateRanges, which isn't empty. The state keeps none of
  /// them: they may be parts of larger ones.
  virtual arrow::Result<std::shared_ptr<const PageState>> MakeState(Buffers /*buffers*/) const {
    return std::make_shared<PageState>();
  }
  /// Begins a read of `rows` (rising, not empty, within the page). `rows` and `leaf` outlive it.
  /// `state` is what MakeState gave, null for a page without one.
  virtual arrow::Result<std::unique_ptr<PageRead>> Start(
      const LeafColumn& leaf, std::span<const PageRows> rows,
      std::shared_ptr<const PageState> state) const = 0;
};

/// The place of a page: its buffers, checked to lie in the file, and its rows.
struct PagePlace {
  Where where;
  std::vector<io::ByteRange> buffers;
  uint64_t num_rows = 0;
};

arrow::Result<std::unique_ptr<Page>> MakeMiniBlockPage(proto::MiniBlockLayout layout,
                                                       PagePlace place);
arrow::Result<std::unique_ptr<Page>> MakeFullZipPage(proto::FullZipLayout layout, PagePlace place);
arrow::Result<std::unique_ptr<Page>> MakeConstantPage(proto::ConstantLayout layout,
                                                      PagePlace place);
/// A leaf page of version 2.0.
arrow::Result<std::unique_ptr<Page>> MakeArrayPage(const proto::ArrayEncoding& encoding,
                                                   PagePlace place);

/// Makes the page of a layout message; `not_supported` names layouts that aren't read.
arrow::Result<std::unique_ptr<Page>> MakePage(const proto::Encoding& encoding, PagePlace place);

}  // namespace kinjo::format::file
