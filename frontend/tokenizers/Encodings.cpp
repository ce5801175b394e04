/// What is done with encodings as a whole.
#include "frontend/tokenizers/Encodings.h"
#include "frontend/tokenizers/Failure.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::text {

/// Texts of tokens and offsets are there, or they are not asked for.
template <typename Function> static void eachList(Encoding &to, Function f) {
  f(to.ids, &Encoding::ids);
  f(to.tokens, &Encoding::tokens);
  f(to.type_ids, &Encoding::type_ids);
  f(to.word_ids, &Encoding::word_ids);
  f(to.offsets, &Encoding::offsets);
  f(to.attention_mask, &Encoding::attention_mask);
  f(to.special_tokens_mask, &Encoding::special_tokens_mask);
}

void addSpecial(Encoding &encoding, int32_t id, const std::string &token,
                int32_t typeId) {
  encoding.ids.push_back(id);
  encoding.tokens.push_back(token);
  encoding.type_ids.push_back(typeId);
  encoding.word_ids.push_back(-1);
  encoding.offsets.push_back({0, 0});
  encoding.attention_mask.push_back(1);
  encoding.special_tokens_mask.push_back(1);
}

/// Parts that overflowed are made of others': so many are no mistake of size.
static constexpr size_t maxParts = 1 << 20;

void append(Encoding &encoding, const Encoding &other) {
  std::vector<Encoding> parts;
  size_t own = encoding.overflowing.size(), others = other.overflowing.size();
  if (own + others + own * others > maxParts)
    fail(ErrorKind::invalid_argument,
         fmt::format("truncation: {} and {} parts that overflow are too many",
                     own, others));
  auto join = [&](const Encoding &left, const Encoding &right) {
    Encoding part = left;
    append(part, right);
    parts.push_back(std::move(part));
  };
  for (const Encoding &part : encoding.overflowing) {
    join(part, other);
    for (const Encoding &right : other.overflowing)
      join(part, right);
  }
  for (const Encoding &right : other.overflowing)
    join(encoding, right);
  eachList(encoding, [&](auto &list, auto member) {
    list.insert(list.end(), (other.*member).begin(), (other.*member).end());
  });
  encoding.overflowing = std::move(parts);
}

static Encoding partOf(const Encoding &encoding, size_t begin, size_t end) {
  Encoding part;
  eachList(part, [&](auto &list, auto member) {
    const auto &all = encoding.*member;
    if (all.size() >= end)
      list.assign(all.begin() + std::ptrdiff_t(begin),
                  all.begin() + std::ptrdiff_t(end));
  });
  return part;
}

void truncate(Encoding &encoding, size_t length, size_t stride, Side side) {
  size_t size = encoding.size();
  if (length >= size)
    return;
  if (length == 0) {
    Encoding whole = std::move(encoding);
    encoding = {};
    encoding.overflowing.push_back(std::move(whole));
    return;
  }
  if (stride >= length)
    fail(ErrorKind::invalid_argument,
         fmt::format("truncation: the stride, {}, is not less than the {} "
                     "tokens of a text that are left",
                     stride, length));
  std::vector<Encoding> parts;
  if (side == Side::right)
    for (size_t begin = 0;; begin += length - stride) {
      size_t end = std::min(begin + length, size);
      parts.push_back(partOf(encoding, begin, end));
      if (end == size)
        break;
    }
  else
    for (size_t end = size;; end -= length - stride) {
      size_t begin = end > length ? end - length : 0;
      parts.push_back(partOf(encoding, begin, end));
      if (begin == 0)
        break;
    }
  encoding = std::move(parts.front());
  parts.erase(parts.begin());
  encoding.overflowing = std::move(parts);
}

/// How long both texts of a pair may be.
static std::pair<size_t, size_t> shared(size_t first, size_t second,
                                        size_t length) {
  size_t less = std::min(first, second), more = std::max(first, second);
  more = less > length ? less : std::max(less, length - less);
  if (less + more > length) {
    less = length / 2;
    more = less + length % 2;
  }
  return first > second ? std::pair(more, less) : std::pair(less, more);
}

void truncate(std::vector<Encoding> &encodings, const Truncation &truncation,
              size_t length) {
  size_t total = 0;
  for (const Encoding &encoding : encodings)
    total += encoding.size();
  auto stride = size_t(truncation.stride);
  auto cut = [&](size_t which, size_t to) {
    truncate(encodings[which], to, stride, truncation.side);
  };
  if (total <= length && length > 0)
    return;
  if (length == 0) {
    for (size_t i = 0; i < encodings.size(); ++i)
      cut(i, 0);
    return;
  }
  if (truncation.strategy == TruncationStrategy::longest_first) {
    if (encodings.size() == 1) {
      cut(0, length);
      return;
    }
    auto [first, second] =
        shared(encodings[0].size(), encodings[1].size(), length);
    cut(0, first);
    cut(1, second);
    return;
  }
  size_t which = truncation.strategy == TruncationStrategy::only_second;
  if (which >= encodings.size())
    fail(ErrorKind::invalid_argument,
         "truncation: the strategy is only_second, but there is one text");
  size_t excess = total - length;
  if (encodings[which].size() <= excess)
    fail(ErrorKind::invalid_argument,
         fmt::format("truncation: {} tokens are too many, but the text that "
                     "gives way has {}",
                     excess, encodings[which].size()));
  cut(which, encodings[which].size() - excess);
}

static void pad(Encoding &encoding, size_t length, const Padding &padding,
                bool texts) {
  for (Encoding &part : encoding.overflowing)
    pad(part, length, padding, texts);
  if (encoding.size() >= length)
    return;
  size_t count = length - encoding.size();
  bool left = padding.side == Side::left;
  auto fill = [&](auto &list, const auto &value) {
    list.insert(left ? list.begin() : list.end(), count, value);
  };
  fill(encoding.ids, padding.id);
  if (texts) {
    fill(encoding.tokens, padding.token);
    fill(encoding.offsets, Offset{0, 0});
  }
  fill(encoding.type_ids, padding.type_id);
  fill(encoding.word_ids, -1);
  fill(encoding.attention_mask, uint8_t(0));
  fill(encoding.special_tokens_mask, uint8_t(1));
}

void pad(std::vector<Encoding> &encodings, const Padding &padding, bool texts) {
  size_t length = 0;
  if (padding.length)
    length = size_t(*padding.length);
  else
    for (const Encoding &encoding : encodings)
      length = std::max(length, encoding.size());
  if (padding.multiple_of && *padding.multiple_of > 0) {
    auto multiple = size_t(*padding.multiple_of);
    length = (length + multiple - 1) / multiple * multiple;
  }
  for (Encoding &encoding : encodings)
    pad(encoding, length, padding, texts);
}

} // namespace sinter::text
