#include "format/file/page.h"

#include <utility>

namespace kinjo::format::file {

arrow::Result<std::unique_ptr<Page>> MakePage(const proto::Encoding& encoding, PagePlace place) {
  constexpr std::string_view kLayoutUrl = "/lance.encodings21.PageLayout";
  constexpr std::string_view kArrayUrl = "/lance.encodings.ArrayEncoding";
  const bool direct = encoding.kind == proto::Encoding::Kind::kDirect;
  if (direct && encoding.type_url == kArrayUrl) {
    proto::ArrayEncoding array;
    if (!proto::ParseArrayEncoding(encoding.value, &array)) {
      return place.where.Corrupt("malformed page encoding");
    }
    return MakeArrayPage(array, std::move(place));
  }
  if (!direct || encoding.type_url != kLayoutUrl) {
    return place.where.NotSupported("page encoding '", encoding.type_url, "'");
  }
  proto::PageLayout layout;
  if (!proto::ParsePageLayout(encoding.value, &layout)) {
    return place.where.Corrupt("malformed page layout");
  }
  switch (layout.kind) {
    case proto::PageLayout::Kind::kMiniBlock:
      return MakeMiniBlockPage(std::move(layout.mini_block), std::move(place));
    case proto::PageLayout::Kind::kFullZip:
      return MakeFullZipPage(std::move(layout.full_zip), std::move(place));
    case proto::PageLayout::Kind::kConstant:
      return MakeConstantPage(std::move(layout.constant), std::move(place));
    default:
      return place.where.NotSupported("page layout ", proto::Describe(layout));
  }
}

}  // namespace kinjo::format::file
