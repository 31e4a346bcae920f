// Manifest files as bytes: the counterpart of manifest.h.
#pragma once

#include <string>
#include <string_view>

#include "format/proto/transaction_messages.h"
#include "format/table/manifest.h"

namespace kinjo::format {

/// The whole file. Sets the offsets of the sections in `messages` to where they come to lie; an
/// empty `transaction` leaves its section out.
std::string EncodeManifestFile(ManifestMessages* messages, std::string_view transaction);

/// The flags of a version with these fragments and settings, from those of the version before it.
void SetFeatureFlags(proto::ManifestMessage* manifest);

}  // namespace kinjo::format
