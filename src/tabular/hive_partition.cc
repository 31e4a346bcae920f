#include "tabular/hive_partition.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace kinjo::tabular {

namespace {

constexpr std::string_view kNullValue = "__HIVE_DEFAULT_PARTITION__";

struct KeyValue {
  std::string key;
  std::optional<std::string> value;  // nothing = null
};

std::string DecodePercent(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      const char* digits = text.data() + i + 1;
      const auto parsed = std::from_chars(digits, digits + 2, byte, 16);
      if (parsed.ptr == digits + 2) {
        decoded += static_cast<char>(byte);
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

std::vector<KeyValue> KeysOf(std::string_view path) {
  std::vector<KeyValue> keys;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    const std::string_view segment = path.substr(0, slash);
    path.remove_prefix(slash + 1);
    const size_t equals = segment.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    KeyValue key{DecodePercent(segment.substr(0, equals)), std::nullopt};
    const std::string_view value = segment.substr(equals + 1);
    if (value != kNullValue) key.value = DecodePercent(value);
    keys.push_back(std::move(key));
  }
  return keys;
}

std::string Names(const std::vector<KeyValue>& keys) {
  std::string names;
  for (const KeyValue& key : keys) names += (names.empty() ? "" : "/") + key.key;
  return names.empty() ? "none" : names;
}

std::optional<int64_t> ParseInt(const std::string& text) {
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsIntColumn(const std::vector<std::vector<KeyValue>>& files, size_t column) {
  bool any = false;
  for (const std::vector<KeyValue>& keys : files) {
    if (!keys[column].value.has_value()) continue;
    if (!ParseInt(*keys[column].value).has_value()) return false;
    any = true;
  }
  return any;
}

std::shared_ptr<arrow::Scalar> ToScalar(const KeyValue& key,
                                        const std::shared_ptr<arrow::DataType>& type) {
  if (!key.value.has_value()) return arrow::MakeNullScalar(type);
  if (type->id() == arrow::Type::INT64) return arrow::MakeScalar(*ParseInt(*key.value));
  return arrow::MakeScalar(*key.value);
}

arrow::Status CheckSameKeys(const std::vector<std::vector<KeyValue>>& files,
                            const std::vector<std::string>& paths) {
  for (size_t i = 1; i < files.size(); ++i) {
    if (Names(files[i]) == Names(files[0])) continue;
    return base::Invalid("the folders are not partitioned alike: ", paths[0], " has the keys ",
                         Names(files[0]), ", ", paths[i], " has ", Names(files[i]));
  }
  for (size_t i = 0; i < files[0].size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (files[0][i].key == files[0][j].key) {
        return base::Invalid("partition key ", files[0][i].key, " stands twice in ", paths[0]);
      }
    }
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<HivePartitions> ReadHivePartitions(const std::vector<std::string>& relative_paths) {
  std::vector<std::vector<KeyValue>> files;
  files.reserve(relative_paths.size());
  for (const std::string& path : relative_paths) files.push_back(KeysOf(path));
  HivePartitions partitions;
  partitions.values.resize(files.size());
  if (files.empty()) return partitions;
  ARROW_RETURN_NOT_OK(CheckSameKeys(files, relative_paths));
  for (size_t column = 0; column < files[0].size(); ++column) {
    const auto type = IsIntColumn(files, column) ? arrow::int64() : arrow::utf8();
    partitions.fields.push_back(arrow::field(files[0][column].key, type));
    for (size_t file = 0; file < files.size(); ++file) {
      partitions.values[file].push_back(ToScalar(files[file][column], type));
    }
  }
  return partitions;
}

}  // namespace kinjo::tabular
