/// Text as sequences of numbers.
#pragma once

#include <sinter/Basic.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The bytes that a text is made of, numbered. Number 0 is the end of a line.
class Alphabet {
public:
  explicit Alphabet(std::string_view text);
  int64_t size() const { return static_cast<int64_t>(letters.size()); }
  int64_t number(char letter) const { return numbers[uint8_t(letter)]; }
  char letter(int64_t number) const { return letters[number]; }

private:
  std::string letters;
  int64_t numbers[256] = {};
};

/// A sequence of letters, in which each but the first is to be told.
using Sequence = std::vector<int64_t>;

/// Lines with an end before and after them, where all are short; else pieces of
/// 64 letters that have one letter in common.
std::vector<Sequence> sequencesOf(std::string_view text,
                                  const Alphabet &alphabet);

/// Sequences of one length: what is behind the end of one is `padding`.
struct Batch {
  static constexpr int64_t padding = -1;
  sinter::Tensor letters; ///< i64[n,t]; 0 in place of padding
  sinter::Tensor next;    ///< i64[n,t]
};

/// Pads to `length` letters, so that every batch runs the same program.
struct SequenceBatcher {
  int64_t length;
  Batch operator()(std::vector<Sequence> sequences) const;
};
