/// A part of a text on its way to a normal form.
///
/// Where a byte came from is what Hugging Face's tokenizers say, also where
/// that is odd: offsets of tokens are compared with theirs.
#include "frontend/tokenizers/Line.h"

#include <algorithm>

namespace sinter::text {

void Line::assign(std::string_view original, Span part) {
  origin = part;
  text.assign(original.substr(part.begin, part.end - part.begin));
  align.resize(text.size());
  for (size_t at = 0; at < text.size();) {
    size_t size = charLength(text[at]);
    auto begin = part.begin + uint32_t(at);
    Span span = {begin, begin + uint32_t(size)};
    for (size_t end = at + size; at < end; ++at)
      align[at] = span;
  }
}

void Line::assign(std::string_view current, std::span<const Span> spans,
                  Span part) {
  origin = part;
  text.assign(current);
  align.assign(spans.begin(), spans.end());
}

/// The part of the text that has an origin: characters that were put before a
/// text from nothing have none, and are not reached.
bool Line::changeable(size_t &from, size_t &to) const {
  from = to = 0;
  if (origin.begin == origin.end)
    return true;
  bool found = false;
  for (size_t i = 0; i < align.size() && origin.end >= align[i].end; ++i) {
    if (!found && align[i].begin != align[i].end) {
      found = true;
      from = i;
    }
    to = i + 1;
  }
  if (!found)
    from = to;
  return to > 0;
}

void Line::transform(std::span<const Change> list, size_t removed) {
  size_t from, to;
  if (changeable(from, to))
    transformPart(from, to, list, removed);
}

void Line::transformPart(size_t from, size_t to, std::span<const Change> list,
                         size_t removed) {
  next.assign(text, 0, from);
  nextAlign.assign(align.begin(), align.begin() + std::ptrdiff_t(from));
  size_t at = from;
  auto skip = [&] {
    if (at < to)
      at += charLength(text[at]);
  };
  for (size_t i = 0; i < removed; ++i)
    skip();
  for (auto [c, change] : list) {
    Span span = {origin.begin, origin.begin};
    if (change > 0 ? at > 0 : !align.empty())
      span = align[std::min(change > 0 ? at - 1 : at, align.size() - 1)];
    if (change <= 0)
      skip();
    for (; change < 0; ++change)
      skip();
    size_t size = appendChar(next, c);
    nextAlign.insert(nextAlign.end(), size, span);
  }
  next.append(text, to);
  nextAlign.insert(nextAlign.end(), align.begin() + std::ptrdiff_t(to),
                   align.end());
  text.swap(next);
  align.swap(nextAlign);
}

void Line::prepend(std::string_view front) {
  if (text.empty())
    return;
  changes.clear();
  for (size_t at = 0; at < front.size();)
    changes.push_back({nextChar(front, at), changes.empty() ? 0 : 1});
  size_t end = 0;
  changes.push_back({nextChar(text, end), 1});
  transformPart(0, end, changes, 0);
}

void Line::replace(const Matches &parts, std::string_view content) {
  bool any = std::ranges::any_of(
      parts, [](const Match &part) { return part.matches; });
  if (!any)
    return;
  next.clear();
  nextAlign.clear();
  for (auto [begin, end, matches] : parts) {
    if (!matches) {
      next.append(text, begin, end - begin);
      nextAlign.insert(nextAlign.end(), align.begin() + std::ptrdiff_t(begin),
                       align.begin() + std::ptrdiff_t(end));
      continue;
    }
    Span span = end > 0 ? align[end - 1] : Span{origin.begin, origin.begin};
    next += content;
    nextAlign.insert(nextAlign.end(), content.size(), span);
  }
  text.swap(next);
  align.swap(nextAlign);
}

void Line::lower() {
  changes.clear();
  bool same = true;
  for (size_t at = 0; at < text.size();) {
    char32_t c = nextChar(text, at);
    if (!(classesOf(c) & charUpper)) {
      changes.push_back({c, 0});
      continue;
    }
    same = false;
    int change = 0;
    lowerCase(c, [&](char32_t to) { changes.push_back({to, change++}); });
  }
  if (!same || isOdd())
    transform(changes);
}

} // namespace sinter::text
