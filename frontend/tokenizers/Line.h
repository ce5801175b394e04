/// Line: a part of a text on its way to a normal form, which knows where each
/// byte came from.
#pragma once

#include "frontend/tokenizers/characters/Regex.h"
#include "frontend/tokenizers/characters/Unicode.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::text {

/// Bytes of the text that was given.
struct Span {
  uint32_t begin, end;
};

/// A character of the new text.
struct Change {
  char32_t c;
  /// 0: it stands for the next character; -n: for that and the n behind it;
  /// 1: it is new.
  int change;
};

class Line {
public:
  std::string text;
  std::vector<Span> align; ///< of each byte of `text`
  Span origin = {0, 0};    ///< what the line was made of

  /// The part of `original` as it is.
  void assign(std::string_view original, Span part);
  void assign(std::string_view current, std::span<const Span> spans, Span part);

  /// The whole text becomes that of `changes`; `removed` characters at its
  /// beginning go.
  void transform(std::span<const Change> changes, size_t removed = 0);
  /// Puts `front` before the text, unless that is empty.
  void prepend(std::string_view front);
  /// What `matches` becomes `content`.
  void replace(const Matches &parts, std::string_view content);

  /// Keeps the characters that `keep` says.
  template <typename Predicate> void filter(Predicate keep);
  /// Each character becomes what `map` gives.
  template <typename Function> void map(Function map);
  void lower();

  /// The first character came from nothing. Changes of the whole text then come
  /// after it, so they are made even where nothing changes.
  bool isOdd() const {
    return !align.empty() && align[0].begin == align[0].end;
  }

  /// Memory for those who transform.
  std::vector<Change> changes;
  Matches parts;

private:
  std::string next;
  std::vector<Span> nextAlign;

  bool changeable(size_t &from, size_t &to) const;
  void transformPart(size_t from, size_t to, std::span<const Change> changes,
                     size_t removed);
};

template <typename Predicate> void Line::filter(Predicate keep) {
  changes.clear();
  size_t removedFirst = 0, at = 0;
  bool all = true;
  while (at < text.size()) {
    char32_t c = nextChar(text, at);
    if (keep(c)) {
      changes.push_back({c, 0});
      continue;
    }
    all = false;
    if (changes.empty())
      ++removedFirst;
    else
      --changes.back().change;
  }
  if (!all || isOdd())
    transform(changes, removedFirst);
}

template <typename Function> void Line::map(Function map) {
  changes.clear();
  size_t at = 0;
  bool same = true;
  while (at < text.size()) {
    char32_t c = nextChar(text, at), to = map(c);
    changes.push_back({to, 0});
    same &= c == to;
  }
  if (!same || isOdd())
    transform(changes);
}

} // namespace sinter::text
