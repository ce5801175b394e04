/// Pieces: a text that is cut into words, step by step.
#pragma once

#include "frontend/tokenizers/Line.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::text {

/// A part of the current text.
struct Piece {
  uint32_t begin, end;
  Span origin;     ///< in the text that was given
  int32_t id = -1; ///< of an added token; -1: still to be cut and looked up
};

class Pieces {
public:
  std::string_view original;
  std::vector<Piece> list;
  /// The text is the one that was given, and nothing moved.
  bool plain = true;
  /// A byte of the text stands for a character of the byte alphabet.
  bool bytes = false;

  /// One piece of everything.
  void assign(std::string_view text);

  std::string_view current() const {
    return plain ? original : std::string_view(buffer);
  }
  std::string_view textOf(const Piece &piece) const {
    return current().substr(piece.begin, piece.end - piece.begin);
  }

  /// Cuts each piece that is no token: `cut` is given its text and a function
  /// that takes the beginning and end of each part, and the id of a token.
  /// Empty parts are left out.
  template <typename Function> void split(Function cut);
  /// Each piece that is no token is given to `change` as a line, which changes
  /// it. Empty ones stay.
  template <typename Function> void rewrite(Function change);

  /// Of bytes `begin` to `end` of a piece: where they came from.
  Span originOf(const Piece &piece, uint32_t begin, uint32_t end) const;

  Line line; ///< the one that is being changed

private:
  std::string buffer, nextBuffer;
  std::vector<Span> align, nextAlign; ///< of each byte of `buffer`
  std::vector<Piece> next;

  void load(const Piece &piece);
  void store(const Piece &piece);
  void finish();
};

template <typename Function> void Pieces::split(Function cut) {
  next.clear();
  std::string_view text = current();
  for (const Piece &piece : list) {
    if (piece.id >= 0) {
      next.push_back(piece);
      continue;
    }
    auto add = [&](size_t begin, size_t end, int32_t id = -1) {
      if (begin == end)
        return;
      uint32_t first = piece.begin + uint32_t(begin);
      uint32_t last = piece.begin + uint32_t(end);
      Span origin = plain ? Span{first, last}
                          : Span{align[first].begin, align[last - 1].end};
      next.push_back({first, last, origin, id});
    };
    cut(text.substr(piece.begin, piece.end - piece.begin), add);
  }
  list.swap(next);
}

template <typename Function> void Pieces::rewrite(Function change) {
  next.clear();
  nextBuffer.clear();
  nextAlign.clear();
  for (const Piece &piece : list) {
    load(piece);
    if (piece.id < 0)
      change(line);
    store(piece);
  }
  finish();
}

} // namespace sinter::text
