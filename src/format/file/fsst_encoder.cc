#include "format/file/fsst_encoder.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "format/file/fsst.h"

namespace kinjo::format::file {

namespace {

constexpr uint64_t kSampleBytes = 64 << 10;
constexpr uint64_t kSamplePiece = 512;  // of one value at most
constexpr int kRounds = 5;
constexpr size_t kMostSymbolBytes = 8;
constexpr size_t kPairs = 1 << 16;

uint64_t LoadWord(const uint8_t* bytes, size_t left) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, std::min<size_t>(left, sizeof(word)));
  return word;
}

uint64_t MaskOf(uint32_t length) {
  return length == 8 ? ~uint64_t{0} : (uint64_t{1} << (length * 8)) - 1;
}

}  // namespace

void FsstEncoder::Use(std::vector<Symbol> symbols) {
  symbols_ = std::move(symbols);
  single_.fill({kNoSymbol, 1});
  for (size_t code = 0; code < symbols_.size(); ++code) {
    const Symbol& symbol = symbols_[code];
    if (symbol.length == 1) single_[symbol.bytes] = {static_cast<uint8_t>(code), 1};
  }
  short_.resize(kPairs);
  for (size_t pair = 0; pair < kPairs; ++pair) short_[pair] = single_[pair & 0xFF];
  long_.assign(kLongPlaces, {});
  for (size_t code = 0; code < symbols_.size(); ++code) {
    const Symbol& symbol = symbols_[code];
    const Found found{static_cast<uint8_t>(code), static_cast<uint8_t>(symbol.length)};
    if (symbol.length == 2) short_[symbol.bytes] = found;
    if (symbol.length < 3) continue;
    size_t place = LongPlace(symbol.bytes);
    while (long_[place].mask != 0) place = (place + 1) % kLongPlaces;
    long_[place] = {symbol.bytes, MaskOf(symbol.length), found};
  }
}

size_t FsstEncoder::LongPlace(uint64_t word) {
  constexpr uint32_t kMultiplier = 0x9E3779B1;
  static_assert(kLongPlaces == 1 << 11);
  return static_cast<uint32_t>(word & 0xFFFFFF) * kMultiplier >> (32 - 11);
}

FsstEncoder::Found FsstEncoder::Find(uint64_t word, size_t left) const {
  for (size_t place = LongPlace(word); long_[place].mask != 0; place = (place + 1) % kLongPlaces) {
    const Long& symbol = long_[place];
    if (((word ^ symbol.bytes) & symbol.mask) == 0 && symbol.found.length <= left) {
      return symbol.found;
    }
  }
  return left > 1 ? short_[word & 0xFFFF] : single_[word & 0xFF];
}

void FsstEncoder::Encode(Bytes value, std::vector<uint8_t>* out) const {
  constexpr size_t kPiece = 512;
  std::array<uint8_t, 2 * (kPiece + 1)> codes;
  for (size_t at = 0; at < value.size();) {
    uint8_t* to = codes.data();
    for (const size_t end = std::min(at + kPiece, value.size()); at < end;) {
      const size_t left = value.size() - at;
      const uint64_t word =
          left >= 8 ? Load<uint64_t>(value.data() + at) : LoadWord(value.data() + at, left);
      const Found found = Find(word, left);
      // The byte itself follows where no symbol is found; else it is written over.
      to[0] = found.code;
      to[1] = static_cast<uint8_t>(word);
      to += found.code == kNoSymbol ? 2 : 1;
      at += found.length;
    }
    out->insert(out->end(), codes.data(), to);
  }
}

std::string FsstEncoder::Table() const {
  std::string table(kFsstTableBytes, '\0');
  const uint64_t header = kFsstMagic << 32 | uint64_t{1} << 24 | symbols_.size();
  std::memcpy(table.data(), &header, 8);
  for (size_t code = 0; code < symbols_.size(); ++code) {
    std::memcpy(table.data() + 8 + code * 8, &symbols_[code].bytes, 8);
    table[8 + symbols_.size() * 8 + code] = static_cast<char>(symbols_[code].length);
  }
  return table;
}

// The rounds that find a table.
class FsstTraining {
 public:
  FsstEncoder Run(const ValueBlock& block) {
    TakeSample(block);
    for (int round = 0; round < kRounds; ++round) {
      CountSample();
      encoder_.Use(BestSymbols(round + 1 < kRounds));
    }
    return std::move(encoder_);
  }

 private:
  using Symbol = FsstEncoder::Symbol;
  // A code, or 256 + a byte that no symbol begins with.
  static constexpr uint32_t kTokens = 512;

  void TakeSample(const ValueBlock& block);
  void CountSample();
  std::vector<Symbol> BestSymbols(bool with_pairs) const;
  Symbol SymbolOf(uint32_t token) const {
    return token < 256 ? encoder_.symbols_[token] : Symbol{token - 256, 1};
  }

  FsstEncoder encoder_;
  std::vector<uint8_t> sample_;
  std::vector<size_t> ends_;
  std::vector<uint32_t> counts_;
  std::vector<uint16_t> pair_counts_;
};

// Values from all over the page; of a long one a piece from a place that changes.
void FsstTraining::TakeSample(const ValueBlock& block) {
  const uint64_t total = block.offset(block.num_values) - block.offset(0);
  const uint64_t step = std::max<uint64_t>(1, total / kSampleBytes);
  uint64_t turn = 0;
  for (uint64_t i = 0; i < block.num_values && sample_.size() < kSampleBytes; i += step) {
    const uint64_t begin = block.offset(i);
    const uint64_t size = block.offset(i + 1) - begin;
    const uint64_t piece = std::min(size, kSamplePiece);
    turn += 7919;
    const uint64_t skip = size > piece ? turn % (size - piece) : 0;
    const uint8_t* from = block.bytes + begin + skip;
    sample_.insert(sample_.end(), from, from + piece);
    ends_.push_back(sample_.size());
  }
}

void FsstTraining::CountSample() {
  counts_.assign(kTokens, 0);
  pair_counts_.assign(size_t{kTokens} * kTokens, 0);
  const auto add_pair = [&](uint32_t first, uint32_t second) {
    uint16_t& count = pair_counts_[first * kTokens + second];
    count += count != UINT16_MAX;
  };
  size_t at = 0;
  for (const size_t end : ends_) {
    uint32_t previous = kTokens;
    while (at < end) {
      const uint8_t byte = sample_[at];
      const auto token_of = [&](FsstEncoder::Found found) {
        return found.code == FsstEncoder::kNoSymbol ? 256u + byte : found.code;
      };
      const auto found = encoder_.Find(LoadWord(sample_.data() + at, end - at), end - at);
      const uint32_t token = token_of(found);
      const uint32_t length = found.length;
      ++counts_[token];
      if (previous != kTokens) add_pair(previous, token);
      if (length > 1) {
        // What would have been taken without the longer symbol.
        const uint32_t other = token_of(encoder_.single_[byte]);
        ++counts_[other];
        if (previous != kTokens) add_pair(previous, other);
      }
      previous = token;
      at += length;
    }
  }
}

std::vector<FsstEncoder::Symbol> FsstTraining::BestSymbols(bool with_pairs) const {
  struct Key {
    uint64_t bytes;
    uint32_t length;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return (key.bytes ^ key.length) * 0x9E3779B97F4A7C15 >> 7;
    }
  };
  std::unordered_map<Key, uint64_t, Hash> gains;
  const auto add = [&](const Symbol& symbol, uint64_t count) {
    // A byte without a symbol takes two, and every table needs the frequent ones.
    const uint64_t weight = symbol.length == 1 ? 8 : symbol.length;
    gains[{symbol.bytes, symbol.length}] += weight * count;
  };
  for (uint32_t first = 0; first < kTokens; ++first) {
    if (counts_[first] == 0) continue;
    const Symbol symbol = SymbolOf(first);
    add(symbol, counts_[first]);
    if (!with_pairs || symbol.length == kMostSymbolBytes) continue;
    for (uint32_t second = 0; second < kTokens; ++second) {
      const uint16_t count = pair_counts_[first * kTokens + second];
      if (count < 2) continue;
      const Symbol next = SymbolOf(second);
      if (symbol.length + next.length > kMostSymbolBytes) continue;
      add({symbol.bytes | next.bytes << (symbol.length * 8), symbol.length + next.length}, count);
    }
  }
  struct Candidate {
    uint64_t gain;
    Symbol symbol;
  };
  std::vector<Candidate> candidates;
  candidates.reserve(gains.size());
  for (const auto& [key, gain] : gains) candidates.push_back({gain, {key.bytes, key.length}});
  const auto better = [](const Candidate& a, const Candidate& b) {
    return std::tuple(b.gain, b.symbol.length, a.symbol.bytes) <
           std::tuple(a.gain, a.symbol.length, b.symbol.bytes);
  };
  std::sort(candidates.begin(), candidates.end(), better);
  // One symbol for each beginning: many would have been counted for the same places.
  constexpr uint64_t kBeginning = 0xFFFFFF;
  std::unordered_set<uint64_t> beginnings;
  std::vector<Symbol> symbols;
  for (const auto& [gain, symbol] : candidates) {
    if (symbols.size() == FsstEncoder::kMostSymbols) break;
    if (symbol.length >= 3 && !beginnings.insert(symbol.bytes & kBeginning).second) continue;
    symbols.push_back(symbol);
  }
  return symbols;
}

FsstEncoder FsstEncoder::Train(const ValueBlock& block) { return FsstTraining().Run(block); }

ValueBlock FsstValues::block() const {
  ValueBlock values;
  values.SetVariable(bytes.data(), reinterpret_cast<const uint8_t*>(offsets.data()), 8,
                     offsets.size() - 1);
  return values;
}

FsstValues EncodeFsst(const ValueBlock& block) {
  const FsstEncoder encoder = FsstEncoder::Train(block);
  FsstValues values;
  values.table = encoder.Table();
  values.offsets.reserve(block.num_values + 1);
  values.offsets.push_back(0);
  values.bytes.reserve((block.offset(block.num_values) - block.offset(0)) / 2);
  for (uint64_t i = 0; i < block.num_values; ++i) {
    const uint64_t begin = block.offset(i);
    encoder.Encode(Bytes(block.bytes + begin, block.offset(i + 1) - begin), &values.bytes);
    values.offsets.push_back(values.bytes.size());
  }
  return values;
}

}  // namespace kinjo::format::file
