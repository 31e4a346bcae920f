#include "java_values.h"

#include <cstddef>
#include <cstdint>

#include "java_error.h"

namespace kinjo::jvm {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

void AppendUtf8(char32_t point, std::string* text) {
  const auto byte = [&](char32_t bits) { text->push_back(static_cast<char>(bits)); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xC0 | point >> 6);
    byte(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    byte(0xE0 | point >> 12);
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  } else {
    byte(0xF0 | point >> 18);
    byte(0x80 | (point >> 12 & 0x3F));
    byte(0x80 | (point >> 6 & 0x3F));
    byte(0x80 | (point & 0x3F));
  }
}

bool IsHighSurrogate(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLowSurrogate(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

std::string Utf8Of(const jchar* units, size_t length) {
  std::string text;
  text.reserve(length);
  for (size_t i = 0; i < length; ++i) {
    char32_t point = units[i];
    if (IsHighSurrogate(point) && i + 1 < length && IsLowSurrogate(units[i + 1])) {
      point = 0x10000 + ((point - 0xD800) << 10) + (units[++i] - 0xDC00);
    } else if (IsHighSurrogate(point) || IsLowSurrogate(point)) {
      point = kReplacement;
    }
    AppendUtf8(point, &text);
  }
  return text;
}

// The code point that begins at *position, which moves past it; U+FFFD for a byte that begins none.
char32_t NextPoint(std::string_view text, size_t* position) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t begin = (*position)++;
  const uint8_t lead = byte(begin);
  if (lead < 0x80) return lead;
  const size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4 || begin + more >= text.size()) return kReplacement;
  char32_t point = lead & (0x3F >> more);
  for (size_t i = begin + 1; i <= begin + more; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return kReplacement;
    point = point << 6 | (byte(i) & 0x3F);
  }
  *position = begin + more + 1;
  return point;
}

}  // namespace

std::string FromJava(JNIEnv* env, jstring text) {
  if (text == nullptr) return {};
  const auto length = static_cast<size_t>(env->GetStringLength(text));
  const jchar* units = env->GetStringChars(text, nullptr);
  if (units == nullptr) throw JavaFailure();
  std::string utf8 = Utf8Of(units, length);
  env->ReleaseStringChars(text, units);
  return utf8;
}

std::vector<std::string> FromJava(JNIEnv* env, jobjectArray texts) {
  std::vector<std::string> all;
  const jsize length = env->GetArrayLength(texts);
  for (jsize i = 0; i < length; ++i) {
    auto* text = static_cast<jstring>(env->GetObjectArrayElement(texts, i));
    all.push_back(FromJava(env, text));
    env->DeleteLocalRef(text);
  }
  return all;
}

jstring ToJava(JNIEnv* env, std::string_view text) {
  std::vector<jchar> units;
  units.reserve(text.size() + 1);
  for (size_t position = 0; position < text.size();) {
    const char32_t point = NextPoint(text, &position);
    if (point < 0x10000) {
      units.push_back(static_cast<jchar>(point));
    } else {
      units.push_back(static_cast<jchar>(0xD800 + ((point - 0x10000) >> 10)));
      units.push_back(static_cast<jchar>(0xDC00 + ((point - 0x10000) & 0x3FF)));
    }
  }
  units.push_back(0);  // so that there is an address to give for no text too
  jstring made = env->NewString(units.data(), static_cast<jsize>(units.size() - 1));
  if (made == nullptr) throw JavaFailure();
  return made;
}

}  // namespace kinjo::jvm
