/// WordCache: the tokens of words that were met before.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::text {

/// A token of a word, and the bytes of the word that it stands for.
struct Token {
  int32_t id;
  uint32_t begin, end;
};
using Tokens = std::vector<Token>;

/// Of a bounded size: it begins anew when it is full.
class WordCache {
public:
  /// Longer words are not kept.
  static constexpr size_t maxLength = 255;

  /// Appends the tokens of `word`; false where it is not known.
  bool find(std::string_view word, Tokens &tokens);
  /// Keeps the tokens of the word that was last looked for.
  void keep(std::string_view word, std::span<const Token> tokens);

private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t key = 0, tokens = 0;
    uint16_t length = 0, count = 0;
    bool used = false;
  };
  static constexpr size_t numSlots = 1 << 16, maxUsed = numSlots / 2;

  std::vector<Slot> slots;
  std::string keys;
  Tokens kept;
  size_t used = 0, last = 0;
  uint64_t lastHash = 0;

  void clear();
};

} // namespace sinter::text
