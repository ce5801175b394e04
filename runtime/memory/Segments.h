/// Segments: memory of a source cut into pieces, and the free ones by size.
///
/// Each segment is one range of addresses. Its pieces are neighbours; of two
/// free ones that touch there is always one made. Nothing here asks for memory,
/// but what is handed in as a new piece: to give one back cannot fail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sinter::runtime {

/// A part of a segment, in use or free.
struct Piece {
  char *begin = nullptr;
  size_t bytes = 0;

private:
  friend class Segments;
  bool isFree = false;
  Piece *before = nullptr, *after = nullptr; ///< in the segment
  /// In a list of free ones.
  struct Links {
    Piece *previous = nullptr, *next = nullptr;
  };
  Links inBin, inWholes;
};

/// Not thread-safe.
class Segments {
public:
  Segments() = default;
  Segments(const Segments &) = delete;
  Segments &operator=(const Segments &) = delete;

  /// Eight sizes per doubling, all multiples of 256: the least that is no
  /// smaller than `bytes`, which is at most a quarter of what there are numbers
  /// for.
  static size_t roundedBytes(size_t bytes);

  /// A free piece of at least `bytes` and at most `most`, the smallest but for
  /// what sizes between rounded ones are; or null. It stays free.
  Piece *find(size_t bytes, size_t most) const;
  /// Takes the first `bytes` of a free piece. The rest, if there is any, is
  /// `spare`, and free.
  void take(Piece *piece, size_t bytes, std::unique_ptr<Piece> spare);
  /// Takes over a segment that is one piece in use.
  Piece *add(char *begin, size_t bytes, std::unique_ptr<Piece> piece);
  /// Frees a piece.
  void give(Piece *piece);

  /// The segment that is free as a whole for the longest time, or null.
  Piece *oldestWhole() const { return wholes.first; }
  /// Bytes of all segments that are free as a whole.
  size_t wholeBytes() const { return bytesInWholes; }
  size_t freeBytes() const { return bytesFree; }
  /// Ends a segment that is free as a whole; its memory is the caller's.
  char *remove(Piece *whole);

private:
  static constexpr unsigned numBins = 8 * 64;
  struct List {
    Piece *first = nullptr, *last = nullptr;
  };
  using Member = Piece::Links Piece::*;
  static void link(List &list, Piece *piece, Member links);
  static void unlink(List &list, Piece *piece, Member links);
  void setFree(Piece *piece);
  void setUsed(Piece *piece);
  static bool isWhole(const Piece *piece) {
    return !piece->before && !piece->after;
  }

  std::array<List, numBins> bins; ///< by size class, the newest first
  std::array<uint64_t, numBins / 64> filled{};
  List wholes; ///< the oldest first
  size_t bytesFree = 0, bytesInWholes = 0;
};

} // namespace sinter::runtime
