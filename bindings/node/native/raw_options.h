// An options struct of the C ABI filled from a JavaScript object by the fields' names, with the
// texts that it points to. src/change_options.ts has checked names and types.
#pragma once

#include <napi.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace kinjo_node {

template <typename Raw>
struct Fields {
  std::map<std::string, int64_t Raw::*> numbers;
  std::map<std::string, double Raw::*> decimals;
  std::map<std::string, const char * Raw::*> texts;
  std::map<std::string, bool Raw::*> flags;
};

template <typename Raw>
class RawOptions {
 public:
  /// Throws a TypeError for a name that isn't one.
  RawOptions(const Napi::Object& given, void (*init)(Raw*, size_t), const Fields<Raw>& fields) {
    init(&raw_, sizeof(raw_));
    const Napi::Array names = given.GetPropertyNames();
    for (uint32_t i = 0; i < names.Length(); ++i) {
      const std::string name = names.Get(i).ToString();
      Set(name, given.Get(name), fields);
    }
  }
  RawOptions(const RawOptions&) = delete;
  RawOptions& operator=(const RawOptions&) = delete;

  /// Lives as long as this.
  const Raw* get() const { return &raw_; }

 private:
  void Set(const std::string& name, const Napi::Value& value, const Fields<Raw>& fields) {
    if (const auto number = fields.numbers.find(name); number != fields.numbers.end()) {
      raw_.*number->second = value.ToNumber().Int64Value();
    } else if (const auto real = fields.decimals.find(name); real != fields.decimals.end()) {
      raw_.*real->second = value.ToNumber().DoubleValue();
    } else if (const auto text = fields.texts.find(name); text != fields.texts.end()) {
      raw_.*text->second = texts_.emplace_back(value.ToString().Utf8Value()).c_str();
    } else if (const auto flag = fields.flags.find(name); flag != fields.flags.end()) {
      raw_.*flag->second = value.ToBoolean();
    } else {
      throw Napi::TypeError::New(value.Env(), "there is no option " + name);
    }
  }

  Raw raw_;
  std::deque<std::string> texts_;  // whose elements stay where they are
};

}  // namespace kinjo_node
