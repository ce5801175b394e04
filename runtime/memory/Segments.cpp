/// Lists of free pieces by size class, as in two-level segregated fits.
#include "runtime/memory/Segments.h"

#include <algorithm>
#include <bit>

using namespace sinter::runtime;

namespace {

constexpr size_t granule = 256;

struct SizeClass {
  unsigned index;
  size_t bytes;
};

SizeClass classAbove(size_t bytes) {
  size_t granules = std::max<size_t>(1, (bytes + granule - 1) / granule);
  if (granules <= 8)
    return {unsigned(granules - 1), granules * granule};
  // granules is in (2^k, 2^(k+1)]: eight steps of 2^(k-3).
  unsigned log = std::bit_width(granules - 1) - 1;
  size_t step = size_t(1) << (log - 3);
  size_t rounded = (granules + step - 1) / step;
  unsigned index = 8 + (log - 3) * 8 + unsigned(rounded - 9);
  return {index, rounded * step * granule};
}

/// The largest class that a piece is enough for.
unsigned classWithin(size_t bytes) {
  SizeClass above = classAbove(bytes);
  return above.bytes == bytes ? above.index : above.index - 1;
}

} // namespace

size_t Segments::roundedBytes(size_t bytes) { return classAbove(bytes).bytes; }

void Segments::link(List &list, Piece *piece, Member links) {
  piece->*links = {list.last, nullptr};
  (list.last ? (list.last->*links).next : list.first) = piece;
  list.last = piece;
}

void Segments::unlink(List &list, Piece *piece, Member links) {
  auto [previous, next] = piece->*links;
  (previous ? (previous->*links).next : list.first) = next;
  (next ? (next->*links).previous : list.last) = previous;
}

void Segments::setFree(Piece *piece) {
  piece->isFree = true;
  bytesFree += piece->bytes;
  unsigned bin = classWithin(piece->bytes);
  link(bins[bin], piece, &Piece::inBin);
  filled[bin / 64] |= uint64_t(1) << bin % 64;
  if (!isWhole(piece))
    return;
  bytesInWholes += piece->bytes;
  link(wholes, piece, &Piece::inWholes);
}

void Segments::setUsed(Piece *piece) {
  piece->isFree = false;
  bytesFree -= piece->bytes;
  unsigned bin = classWithin(piece->bytes);
  unlink(bins[bin], piece, &Piece::inBin);
  if (!bins[bin].first)
    filled[bin / 64] &= ~(uint64_t(1) << bin % 64);
  if (!isWhole(piece))
    return;
  bytesInWholes -= piece->bytes;
  unlink(wholes, piece, &Piece::inWholes);
}

Piece *Segments::find(size_t bytes, size_t most) const {
  SizeClass above = classAbove(bytes);
  unsigned bin = above.index;
  if (above.bytes != bytes && bin > 0) // some of the class below are enough
    for (Piece *piece = bins[bin - 1].last; piece;
         piece = piece->inBin.previous)
      if (piece->bytes >= bytes && piece->bytes <= most)
        return piece;
  for (unsigned word = bin / 64; word < filled.size(); ++word) {
    uint64_t left = filled[word];
    if (word == bin / 64)
      left &= ~uint64_t(0) << bin % 64;
    if (left == 0)
      continue;
    // What was used last may be in caches still.
    Piece *piece = bins[word * 64 + unsigned(std::countr_zero(left))].last;
    return piece->bytes <= most ? piece : nullptr;
  }
  return nullptr;
}

void Segments::take(Piece *piece, size_t bytes, std::unique_ptr<Piece> spare) {
  setUsed(piece);
  if (piece->bytes == bytes)
    return;
  Piece *rest = spare.release();
  rest->begin = piece->begin + bytes;
  rest->bytes = piece->bytes - bytes;
  rest->before = piece;
  rest->after = piece->after;
  if (rest->after)
    rest->after->before = rest;
  piece->after = rest;
  piece->bytes = bytes;
  setFree(rest);
}

Piece *Segments::add(char *begin, size_t bytes, std::unique_ptr<Piece> piece) {
  *piece = Piece();
  piece->begin = begin;
  piece->bytes = bytes;
  return piece.release();
}

void Segments::give(Piece *piece) {
  auto swallow = [](Piece *first) {
    std::unique_ptr<Piece> second(first->after);
    first->bytes += second->bytes;
    first->after = second->after;
    if (first->after)
      first->after->before = first;
  };
  if (piece->after && piece->after->isFree) {
    setUsed(piece->after);
    swallow(piece);
  }
  if (piece->before && piece->before->isFree) {
    piece = piece->before;
    setUsed(piece);
    swallow(piece);
  }
  setFree(piece);
}

char *Segments::remove(Piece *whole) {
  setUsed(whole);
  std::unique_ptr<Piece> ended(whole);
  return whole->begin;
}
