/// Regular expressions, by Oniguruma.
#include "frontend/tokenizers/characters/Regex.h"
#include "frontend/tokenizers/Failure.h"
#include "frontend/tokenizers/characters/Unicode.h"
#include "frontend/tokenizers/characters/UnicodeTables.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <oniguruma.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <new>

namespace sinter::text {

namespace {

/// Longer and deeper ones are refused before they are compiled.
constexpr size_t maxPattern = 1 << 16;
constexpr int maxDepth = 100;
/// Steps back that one search may take: a second or so.
constexpr unsigned long maxRetries = 10'000'000;

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
    onig_set_parse_depth_limit(2 * maxDepth);
  });
}

const OnigUChar *bytesOf(std::string_view text) {
  return reinterpret_cast<const OnigUChar *>(text.data());
}

int numberOf(std::string_view name) {
  start();
  auto *begin = const_cast<OnigUChar *>(bytesOf(name));
  return ONIGENC_PROPERTY_NAME_TO_CTYPE(ONIG_ENCODING_UTF8, begin,
                                        begin + name.size());
}

bool isOf(uint32_t c, int number) {
  return ONIGENC_IS_CODE_CTYPE(ONIG_ENCODING_UTF8, c, OnigCtype(number)) != 0;
}

std::string messageOf(int code, OnigErrorInfo *info = nullptr) {
  OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
  int size = info ? onig_error_code_to_str(text, code, info)
                  : onig_error_code_to_str(text, code);
  return printableName(
      {reinterpret_cast<const char *>(text), size_t(std::max(size, 0))});
}

/// How deep brackets stand, at most; counts those of classes and escaped ones,
/// too.
int depthOf(std::string_view pattern) {
  int depth = 0, most = 0;
  for (char c : pattern) {
    depth += c == '(' || c == '[';
    most = std::max(most, depth);
    depth -= (c == ')' || c == ']') && depth > 0;
  }
  return most;
}

} // namespace

bool hasProperty(uint32_t c, CharProperty property) {
  static const int numbers[] = {numberOf("L"), numberOf("N"),
                                numberOf("White_Space"),
                                numberOf("Alphabetic")};
  return isOf(c, numbers[static_cast<size_t>(property)]);
}

struct Regex::Compiled {
  OnigRegex regex = nullptr;

  Compiled() = default;
  Compiled(const Compiled &) = delete;
  Compiled &operator=(const Compiled &) = delete;
  ~Compiled() {
    if (regex)
      onig_free(regex);
  }
};

Regex::Regex(std::string_view pattern) : source(pattern) {
  start();
  if (pattern.size() > maxPattern)
    fail(ErrorKind::io, fmt::format("the expression has {} bytes, at most {} "
                                    "are allowed",
                                    pattern.size(), maxPattern));
  if (depthOf(pattern) > maxDepth)
    fail(
        ErrorKind::io,
        fmt::format("brackets of the expression are deeper than {}", maxDepth));
  auto made = std::make_shared<Compiled>();
  OnigErrorInfo info = {};
  int code = onig_new(&made->regex, bytesOf(pattern),
                      bytesOf(pattern) + pattern.size(), ONIG_OPTION_NONE,
                      ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
  if (code != ONIG_NORMAL)
    fail(ErrorKind::io,
         fmt::format("'{}' is no regular expression: {}",
                     printableName(pattern), messageOf(code, &info)));
  compiled = std::move(made);
}

Regex Regex::literal(std::string_view text) {
  std::string pattern;
  for (char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$#&-~").find(c) !=
        std::string_view::npos)
      pattern += '\\';
    pattern += c;
  }
  return Regex(pattern);
}

namespace {

/// What one search needs; freed where it is left.
struct Search {
  OnigRegion *region = onig_region_new();
  OnigMatchParam *limits = onig_new_match_param();

  Search() {
    if (!region || !limits) {
      free();
      throw std::bad_alloc();
    }
    onig_initialize_match_param(limits);
    onig_set_retry_limit_in_match_of_match_param(limits, maxRetries);
    onig_set_retry_limit_in_search_of_match_param(limits, maxRetries);
  }
  Search(const Search &) = delete;
  Search &operator=(const Search &) = delete;
  ~Search() { free(); }

private:
  void free() {
    if (region)
      onig_region_free(region, 1);
    if (limits)
      onig_free_match_param(limits);
  }
};

} // namespace

void Regex::split(std::string_view text, Matches &parts) const {
  parts.clear();
  if (text.empty()) {
    parts.push_back({0, 0, false});
    return;
  }
  Search search;
  const OnigUChar *begin = bytesOf(text), *end = begin + text.size();
  size_t from = 0, done = 0;
  bool any = false; // a match ends at `done`
  while (from <= text.size()) {
    int found =
        onig_search_with_param(compiled->regex, begin, end, begin + from, end,
                               search.region, ONIG_OPTION_NONE, search.limits);
    if (found == ONIG_MISMATCH)
      break;
    if (found < 0)
      fail(ErrorKind::invalid_argument,
           fmt::format("the regular expression '{}' gave up on a text of {} "
                       "bytes: {}",
                       printableName(source), text.size(), messageOf(found)));
    auto first = size_t(search.region->beg[0]);
    auto last = size_t(search.region->end[0]);
    // An empty match that follows the last one would be found again and again.
    if (first == last && any && done == last) {
      from += from < text.size() ? charLength(text[from]) : 1;
      continue;
    }
    if (first > done)
      parts.push_back({done, first, false});
    parts.push_back({first, last, true});
    from = done = last;
    any = true;
  }
  if (done < text.size())
    parts.push_back({done, text.size(), false});
}

// ---- Scripts ----------------------------------------------------------------

/// The place of a script among the names.
static int placeOf(std::string_view name) {
  return int(std::ranges::find(scriptNames, name) - std::begin(scriptNames));
}

int scriptOf(char32_t c) {
  static constexpr int count = std::size(scriptNames);
  static const std::array<int, count> numbers = [] {
    std::array<int, count> all;
    std::ranges::transform(scriptNames, all.begin(),
                           [](const char *name) { return numberOf(name); });
    return all;
  }();
  if (isWithin(unknownScripts, c))
    return count;
  // Unicode 9 had these elsewhere.
  if (c == 0x589 || c == 0x61C)
    return placeOf("Common");
  if (c == 0x953 || c == 0x954)
    return placeOf("Devanagari");
  for (int i = 0; i < count; ++i)
    if (isOf(c, numbers[size_t(i)]))
      return i;
  return count;
}

} // namespace sinter::text
