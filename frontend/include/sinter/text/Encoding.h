/// Encoding: a text as tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::text {

/// A part of a text, the end excluded.
struct Offset {
  int32_t begin = 0, end = 0;
  friend bool operator==(const Offset &, const Offset &) = default;
};

/// What a text, or a pair of texts, became. All vectors have one element per
/// token, but those that were not asked for, which are empty.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<std::string> tokens;
  std::vector<int32_t> type_ids; ///< which text of a pair, as the model sees it
  std::vector<int32_t> word_ids; ///< the word of its text, -1 of special tokens
  std::vector<Offset> offsets;   ///< where it stands in its text
  std::vector<uint8_t> attention_mask;      ///< 0 of tokens that only fill up
  std::vector<uint8_t> special_tokens_mask; ///< 1 of tokens that were added
  /// What truncation cut off, in parts of the same length.
  std::vector<Encoding> overflowing;

  size_t size() const { return ids.size(); }
};

/// On which side of a text something happens.
enum class Side : uint8_t { left, right };

/// Which text of a pair gives way.
enum class TruncationStrategy : uint8_t {
  longest_first,
  only_first,
  only_second,
};

/// Texts of more than `max_length` tokens, special ones included, are cut off.
struct Truncation {
  int64_t max_length = 512;
  /// So many tokens of a part are repeated at the beginning of the next.
  int64_t stride = 0;
  TruncationStrategy strategy = TruncationStrategy::longest_first;
  Side side = Side::right; ///< where tokens are cut off
};

/// Texts are filled up to the same length.
struct Padding {
  std::optional<int64_t> length = {}; ///< without one, that of the longest
  std::optional<int64_t> multiple_of = {};
  Side side = Side::right;
  int32_t id = 0;
  int32_t type_id = 0;
  std::string token = "[PAD]";
};

/// What offsets count; `none` leaves them and the tokens' texts out, which is
/// faster.
enum class OffsetUnit : uint8_t { characters, bytes, none };

struct EncodeOptions {
  bool special_tokens = true; ///< those that the post-processor adds
  OffsetUnit offsets = OffsetUnit::characters;
};

} // namespace sinter::text
