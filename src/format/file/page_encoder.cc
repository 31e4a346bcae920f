#include "format/file/page_encoder.h"

#include "format/file/constant_encoder.h"
#include "format/file/full_zip_encoder.h"
#include "format/file/mini_block_encoder.h"

namespace kinjo::format::file {

namespace {

// Values below this many bytes go into mini-blocks.
constexpr uint64_t kWideValueBytes = 256;

bool WantsMiniBlock(const PageContent& page, const WriteChoices& choices) {
  const LeafType& type = page.leaf->type;
  const bool fixed = type.kind == LeafType::Kind::kFixed;
  const uint64_t items = type.items_per_value.empty() ? 1 : type.items_per_value.back();
  // A list of single bits has no full-zip form, an Arrow dictionary no other place for its items.
  if (choices.dictionary_index_bits != 0) return true;
  if (fixed && items > 1 && type.bits_per_value / items == 1) return true;
  switch (choices.structure) {
    case WriteChoices::Structure::kMiniBlock:
      return true;
    case WriteChoices::Structure::kFullZip:
      return false;
    case WriteChoices::Structure::kAny:
      break;
  }
  return fixed ? BytesForBits(type.bits_per_value) < kWideValueBytes
               : page.longest_value < kWideValueBytes;
}

}  // namespace

arrow::Result<EncodedPage> EncodePage(const PageContent& page, const WriteChoices& choices) {
  ARROW_ASSIGN_OR_RAISE(auto constant, EncodeConstant(page, choices));
  if (constant) return std::move(*constant);
  if (WantsMiniBlock(page, choices)) {
    ARROW_ASSIGN_OR_RAISE(auto mini_block, EncodeMiniBlock(page, choices));
    if (mini_block) return std::move(*mini_block);
    const bool only_mini_block =
        choices.dictionary_index_bits != 0 ||
        (page.leaf->type.bits_per_value > 1 && page.leaf->type.bits_per_value % 8 != 0);
    if (only_mini_block) {
      return base::NotSupported("values of type ", page.leaf->type.type->ToString(),
                                " with so many empty lists between them, or so wide, have no "
                                "encoding in Lance's data files");
    }
  }
  return EncodeFullZip(page, choices);
}

}  // namespace kinjo::format::file
