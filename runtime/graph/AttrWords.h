/// Attribute words: how typed attributes are encoded in a node, and read back.
#pragma once

#include "runtime/support/SmallVector.h"
#include "sinter/runtime/DType.h"
#include "sinter/runtime/Dim.h"
#include "sinter/runtime/Number.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace sinter::graph {

/// Writes attributes in the order of OpInfo::attrs, encoded as AttrKind says.
class AttrWriter {
public:
  void boolean(bool value) { words.push_back(value); }
  void integer(int64_t value) { words.push_back(uint64_t(value)); }
  void real(double value) { words.push_back(std::bit_cast<uint64_t>(value)); }
  void number(Number value) {
    words.push_back(value.isReal);
    words.push_back(value.isReal ? std::bit_cast<uint64_t>(value.real)
                                 : uint64_t(value.integer));
  }
  void dtype(DType value) { words.push_back(uint64_t(value)); }
  template <typename Choice> void choice(Choice value) {
    words.push_back(uint64_t(value));
  }
  void ints(std::span<const int64_t> values) {
    words.push_back(values.size());
    for (int64_t value : values)
      words.push_back(uint64_t(value));
  }
  void dim(Dim value) {
    words.push_back(uint64_t(value.value));
    words.push_back(value.expr);
  }
  void dims(std::span<const Dim> values) {
    words.push_back(values.size());
    for (Dim value : values)
      dim(value);
  }
  /// Without zero bytes.
  void text(std::string_view value) {
    size_t count = (value.size() + 7) / 8;
    words.push_back(count);
    for (size_t i = 0; i < count; ++i) {
      uint64_t word = 0;
      std::string_view part = value.substr(8 * i, 8);
      std::memcpy(&word, part.data(), part.size());
      words.push_back(word);
    }
  }
  std::span<const uint64_t> view() const { return words; }

private:
  SmallVector<uint64_t, 16> words;
};

/// Reads attributes in the same order. The words must be well formed, as a
/// node's are (a file's are checked against the schema first).
class AttrReader {
public:
  explicit AttrReader(std::span<const uint64_t> words) : words(words) {}

  bool boolean() { return next() != 0; }
  int64_t integer() { return int64_t(next()); }
  double real() { return std::bit_cast<double>(next()); }
  Number number() {
    bool isReal = next() != 0;
    return isReal ? Number(std::bit_cast<double>(next()))
                  : Number(int64_t(next()));
  }
  DType dtype() { return DType(next()); }
  template <typename Choice> Choice choice() { return Choice(next()); }
  /// Borrowed from the words.
  std::span<const int64_t> ints() {
    size_t count = next();
    auto *first = reinterpret_cast<const int64_t *>(words.data());
    words = words.subspan(count);
    return {first, count};
  }
  /// Borrowed from the words.
  std::string_view text() {
    std::span<const int64_t> bytes = ints();
    std::string_view padded(reinterpret_cast<const char *>(bytes.data()),
                            bytes.size_bytes());
    return padded.substr(0, padded.find('\0'));
  }
  Dim dim() {
    int64_t value = integer();
    return Dim(value, uint32_t(next()));
  }
  SmallVector<Dim, 6> dims() {
    SmallVector<Dim, 6> values;
    for (size_t count = next(); count > 0; --count)
      values.push_back(dim());
    return values;
  }

private:
  uint64_t next() {
    uint64_t word = words.front();
    words = words.subspan(1);
    return word;
  }

  std::span<const uint64_t> words;
};

} // namespace sinter::graph
