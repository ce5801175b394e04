/// Text as sequences of numbers.
#include "examples/04_char_lm/Text.h"

#include <algorithm>

namespace sn = sinter;

Alphabet::Alphabet(std::string_view text) : letters("\n") {
  for (char letter : text)
    if (letters.find(letter) == letters.npos)
      letters += letter;
  std::sort(letters.begin() + 1, letters.end());
  for (size_t i = 0; i < letters.size(); ++i)
    numbers[uint8_t(letters[i])] = static_cast<int64_t>(i);
}

static std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    if (end > 0)
      lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<Sequence> sequencesOf(std::string_view text,
                                  const Alphabet &alphabet) {
  constexpr size_t shortLine = 32, piece = 64;
  std::vector<Sequence> sequences;
  auto add = [&](const std::string &letters) {
    Sequence &sequence = sequences.emplace_back();
    for (char letter : letters)
      sequence.push_back(alphabet.number(letter));
  };
  std::vector<std::string_view> lines = linesOf(text);
  auto isShort = [](std::string_view line) { return line.size() <= shortLine; };
  if (std::ranges::all_of(lines, isShort))
    for (std::string_view line : lines)
      add("\n" + std::string(line) + "\n");
  else
    for (size_t at = 0; at + 1 < text.size(); at += piece)
      add(std::string(text.substr(at, piece + 1)));
  return sequences;
}

Batch SequenceBatcher::operator()(std::vector<Sequence> sequences) const {
  std::vector<int64_t> letters, next;
  for (const Sequence &sequence : sequences)
    for (int64_t i = 0; i < length; ++i) {
      bool inside = i + 1 < static_cast<int64_t>(sequence.size());
      letters.push_back(inside ? sequence[i] : 0);
      next.push_back(inside ? sequence[i + 1] : Batch::padding);
    }
  auto count = static_cast<int64_t>(sequences.size());
  return {sn::tensor(letters, {count, length}),
          sn::tensor(next, {count, length})};
}
