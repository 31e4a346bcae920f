// Options of joins from Python's keyword arguments, by their one name.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "kinjo/kinjo.h"

namespace kinjo::python {

/// Options by their names.
using Options = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;

/// Owns the texts that the C struct points to.
class JoinOptions {
 public:
  /// `given` holds options that were given, by the names of kinjo_join_options; the pair
  /// `distance_range` stands for its three members. TypeError for a value of another kind, and for
  /// an unknown name.
  explicit JoinOptions(const nanobind::dict& given);
  JoinOptions(const JoinOptions&) = delete;
  JoinOptions& operator=(const JoinOptions&) = delete;

  const kinjo_join_options* get() const { return &raw_; }

 private:
  const char* Keep(const std::string& name, nanobind::handle value);
  void SetNames(const std::string& name, nanobind::handle value, const char* const** names,
                size_t* count);
  void SetRange(nanobind::handle value);
  bool SetNumber(const std::string& name, nanobind::handle value);
  bool SetFraction(const std::string& name, nanobind::handle value);
  bool SetText(const std::string& name, nanobind::handle value);
  bool SetFlag(const std::string& name, nanobind::handle value);

  kinjo_join_options raw_;
  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> lists_;
};

/// A text, a number, a flag or a list as the C ABI wants it. A value of another kind is a
/// TypeError, one that the C ABI can't take (a zero byte, a lone surrogate, beyond 64 bits)
/// InvalidArgument; both name the option.
std::string TextOf(const std::string& name, nanobind::handle value);
int64_t NumberOf(const std::string& name, nanobind::handle value);
double FractionOf(const std::string& name, nanobind::handle value);
bool FlagOf(const std::string& name, nanobind::handle value);
std::vector<std::string> TextsOf(const std::string& name, nanobind::handle value);
/// The same of a value that may be None, which stands for KINJO_UNSET and for no text.
int64_t NumberOrUnset(const std::string& name, nanobind::handle value);
std::optional<std::string> TextOrNone(const std::string& name, nanobind::handle value);

}  // namespace kinjo::python
