#include "option_words.h"

#include <cctype>
#include <string_view>

#include "flags.h"

namespace kinjo::cli {

namespace {

bool IsWordCharacter(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

// The flag of an option, or null. A version and its tag are one flag.
const FlagRow* FlagOf(std::string_view option) {
  if (option == "right_tag") option = "right_version";
  if (option == "memory_limit_bytes") option = "memory_limit";
  for (const FlagRow& row : FlagTable()) {
    const bool offered = (row.commands & (kAsks | kScan | kIndexes | kChanges)) != 0;
    if (row.option == option && row.names[0] == '-' && offered) {
      return &row;
    }
  }
  return nullptr;
}

std::string LongName(const FlagRow& row) {
  const std::string names = row.names;
  return names.substr(names.rfind(',') + 1);
}

bool ValueFollows(std::string_view rest) {
  for (const std::string_view begin : {" = ", " must ", " is '", " is \"", " * ", " can't be "}) {
    if (rest.starts_with(begin)) return true;
  }
  return false;
}

// Goes through a message from its begin to its end.
class Speller {
 public:
  explicit Speller(std::string_view text) : text_(text) {}

  std::string Spell() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (rest[0] == '"') {
        Copy(text_.find('"', at_ + 1) + 1);
      } else if (rest.starts_with("columns: ") || rest.starts_with("columns are: ")) {
        Copy(text_.find(';', at_));
      } else if (IsWordCharacter(rest[0])) {
        SpellWord();
      } else {
        Copy(at_ + 1);
      }
    }
    return std::move(spelled_);
  }

 private:
  // Takes the text up to `end` as it is; npos, and 0 for the end after it, mean all.
  void Copy(size_t end) {
    if (end == 0 || end == std::string_view::npos) end = text_.size();
    spelled_ += text_.substr(at_, end - at_);
    at_ = end;
  }

  void SpellWord() {
    size_t end = at_;
    while (end < text_.size() && IsWordCharacter(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    const std::string_view rest = text_.substr(end);
    const FlagRow* row = IsOption(word, rest) ? FlagOf(word) : nullptr;
    if (row == nullptr) {
      Copy(end);
      return;
    }
    spelled_ += LongName(*row);
    at_ = end;
    if (row->is_switch && rest.starts_with(" = true")) {
      at_ += std::string_view(" = true").size();
    } else if (rest.starts_with(" = ")) {
      spelled_ += row->may_lack_value ? '=' : ' ';
      at_ += std::string_view(" = ").size();
      if (at_ < text_.size() && text_[at_] != '"')
        Copy(text_.find_first_of(" ,;", at_));  // the value
    } else if (word == "where" && rest.starts_with(": ")) {
      Copy(text_.size());
    }
  }

  // Whether the word at hand may name an option; `rest` is what follows it.
  bool IsOption(std::string_view word, std::string_view rest) const {
    // A part of a flag, of a path or of a longer name.
    if (at_ > 0 && std::string_view("-/.='").find(text_[at_ - 1]) != std::string_view::npos) {
      return false;
    }
    if (!rest.empty() && std::string_view("-/=").find(rest[0]) != std::string_view::npos) {
      return false;
    }
    if (word.find('_') != std::string_view::npos || ValueFollows(rest)) return true;
    if (text_.substr(0, at_).ends_with(" without ")) return true;
    return at_ == 0 && rest.starts_with(": ");
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::string spelled_;
};

}  // namespace

std::string WithFlags(const std::string& message) { return Speller(message).Spell(); }

}  // namespace kinjo::cli
