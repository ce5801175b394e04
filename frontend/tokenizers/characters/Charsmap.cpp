/// The normal form that a SentencePiece model brings along.
#include "frontend/tokenizers/characters/Charsmap.h"

#include "runtime/support/Base64.h"

#include <fmt/format.h>

#include <cstring>

namespace sinter::text {

namespace {

std::string decodeBase64(const Field &field) {
  auto bytes = fromBase64(field.string());
  if (!bytes)
    field.wrong(bytes.error().message);
  return {reinterpret_cast<const char *>(bytes->data()), bytes->size()};
}

uint32_t labelOf(uint32_t unit) { return unit & (1U << 31 | 0xFF); }
bool hasLeaf(uint32_t unit) { return unit >> 8 & 1; }
uint32_t offsetOf(uint32_t unit) {
  return unit >> 10 << ((unit & 1U << 9) >> 6);
}

} // namespace

Charsmap::Charsmap(const Field &field) {
  std::string bytes = decodeBase64(field);
  uint32_t size = 0;
  if (bytes.size() < 4)
    field.wrong(fmt::format("{} bytes are no map of characters", bytes.size()));
  std::memcpy(&size, bytes.data(), 4);
  if (size > bytes.size() - 4 || size < 4)
    field.wrong(fmt::format("its double array has {} bytes, of {} that follow",
                            size, bytes.size() - 4));
  units.resize(size / 4);
  std::memcpy(units.data(), bytes.data() + 4, units.size() * 4);
  replacements = bytes.substr(4 + units.size() * 4);
  if (findInvalid(replacements) != std::string::npos)
    field.wrong("its replacements are not UTF-8");
}

bool Charsmap::find(std::string_view part,
                    std::string_view &replacement) const {
  size_t node = offsetOf(units[0]);
  for (char c : part) {
    auto byte = uint8_t(c);
    node ^= byte;
    if (byte == 0 || node >= units.size() || labelOf(units[node]) != byte)
      return false;
    uint32_t unit = units[node];
    node ^= offsetOf(unit);
    if (!hasLeaf(unit))
      continue;
    if (node >= units.size())
      return false;
    size_t place = units[node] & ((1U << 31) - 1);
    if (place > replacements.size() ||
        (place < replacements.size() && (replacements[place] & 0xC0) == 0x80))
      return false;
    replacement = std::string_view(replacements).substr(place);
    replacement = replacement.substr(0, replacement.find('\0'));
    return true;
  }
  return false;
}

/// `count` characters become `replacement`.
static void put(std::vector<Change> &changes, size_t count,
                std::string_view replacement) {
  auto more = std::ptrdiff_t(countChars(replacement)) - std::ptrdiff_t(count);
  size_t first = changes.size();
  for (size_t at = 0; at < replacement.size();)
    changes.push_back({nextChar(replacement, at), 0});
  if (more > 0)
    for (size_t i = changes.size(); more > 0 && i > first; --i, --more)
      changes[i - 1].change = 1;
  else if (more < 0 && !changes.empty())
    changes.back().change += int(more);
}

void Charsmap::run(Line &line) const {
  std::string_view text = line.text;
  line.changes.clear();
  bool changed = false;
  std::string_view replacement;
  for (size_t at = 0; at < text.size();) {
    // One grapheme.
    size_t begin = at, count = 1;
    char32_t last = nextChar(text, at);
    for (int32_t state = 0; at < text.size(); ++count) {
      size_t after = at;
      char32_t c = nextChar(text, after);
      if (isGraphemeBreak(last, c, state))
        break;
      last = c;
      at = after;
    }
    // Short ones are looked for as a whole, and so their beginnings are.
    if (at - begin < 6 && find(text.substr(begin, at - begin), replacement)) {
      changed = true;
      put(line.changes, count, replacement);
      continue;
    }
    while (begin < at) {
      size_t size = charLength(text[begin]);
      std::string_view one = text.substr(begin, size);
      if (find(one, replacement)) {
        changed = true;
        put(line.changes, 1, replacement);
      } else {
        size_t from = begin;
        line.changes.push_back({nextChar(text, from), 0});
      }
      begin += size;
    }
  }
  if (changed)
    line.transform(line.changes);
}

} // namespace sinter::text
