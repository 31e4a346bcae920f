#include "format/file/page.h"

#include <utility>

namespace kinjo::format::file {

namespace {

arrow::Result<std::unique_ptr<Page>> MakeLayoutPage(proto::PageLayout layout, PagePlace place) {
  switch (layout.kind) {
    case proto::PageLayout::Kind::kMiniBlock:
      return MakeMiniBlockPage(std::move(layout.mini_block), std::move(place));
    case proto::PageLayout::Kind::kFullZip:
      return MakeFullZipPage(std::move(layout.full_zip), std::move(place));
    case proto::PageLayout::Kind::kConstant:
      return MakeConstantPage(std::move(layout.constant), std::move(place));
    case proto::PageLayout::Kind::kBlob:
      if (layout.places == nullptr) return place.where.Corrupt("a blob page without its places");
      return MakeLayoutPage(*layout.places, std::move(place));
    default:
      return place.where.NotSupported("page layout ", proto::Describe(layout));
  }
}

}  // namespace

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
  return MakeLayoutPage(std::move(layout), std::move(place));
}

}  // namespace kinjo::format::file
