/// Regular expressions that cut words, known and matched without backtracking.
/// Tests hold them to what Oniguruma finds.
#pragma once

#include "frontend/tokenizers/characters/Unicode.h"

#include <string_view>

namespace sinter::text {

enum class WordPattern : uint8_t {
  other,
  gpt2,   ///< GPT-2, RoBERTa
  llama3, ///< Llama 3, GPT-4: numbers of three digits
  qwen2,  ///< Qwen: numbers of one digit
};

/// Which one an expression is, as it is written in files.
WordPattern knownPattern(std::string_view regex);
/// The expression of a pattern that is not `other`.
std::string_view textOf(WordPattern pattern);

/// Where the word ends that begins at `at` < text.size().
size_t wordEnd(WordPattern pattern, std::string_view text, size_t at);

/// Calls `add` with the beginning and end of each word; words have everything.
template <typename Add>
void splitWords(WordPattern pattern, std::string_view text, Add add) {
  for (size_t at = 0; at < text.size();) {
    size_t end = wordEnd(pattern, text, at);
    add(at, end);
    at = end;
  }
}

} // namespace sinter::text
