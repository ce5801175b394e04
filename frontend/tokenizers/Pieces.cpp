/// A text that is cut into words, step by step.
#include "frontend/tokenizers/Pieces.h"

namespace sinter::text {

void Pieces::assign(std::string_view text) {
  original = text;
  plain = true;
  bytes = false;
  auto end = uint32_t(text.size());
  list.assign(1, {0, end, {0, end}, -1});
}

void Pieces::load(const Piece &piece) {
  if (plain)
    line.assign(original, piece.origin);
  else
    line.assign(textOf(piece),
                std::span(align).subspan(piece.begin, piece.end - piece.begin),
                piece.origin);
}

void Pieces::store(const Piece &piece) {
  auto begin = uint32_t(nextBuffer.size());
  nextBuffer += line.text;
  nextAlign.insert(nextAlign.end(), line.align.begin(), line.align.end());
  next.push_back({begin, uint32_t(nextBuffer.size()), piece.origin, piece.id});
}

void Pieces::finish() {
  plain = false;
  buffer.swap(nextBuffer);
  align.swap(nextAlign);
  list.swap(next);
}

Span Pieces::originOf(const Piece &piece, uint32_t begin, uint32_t end) const {
  if (begin == end)
    return {piece.origin.begin + begin, piece.origin.begin + end};
  // The offsets of a token that is longer than its word stay as they are.
  if (end > piece.end - piece.begin)
    return {begin, end};
  begin += piece.begin;
  end += piece.begin;
  if (!plain)
    return {align[begin].begin, align[end - 1].end};
  auto within = [&](uint32_t at) {
    return at < original.size() && (original[at] & 0xC0) == 0x80;
  };
  while (within(begin))
    --begin;
  while (within(end))
    ++end;
  return {begin, end};
}

} // namespace sinter::text
