/// Tokens beside the model's.
#include "frontend/tokenizers/AddedTokens.h"
#include "frontend/tokenizers/characters/Unicode.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter::text {

static AddedToken readToken(const Field &field, const Normalizer *normalizer) {
  field.onlyHas({"id", "content", "single_word", "lstrip", "rstrip",
                 "normalized", "special"});
  AddedToken token;
  token.content = field.at("content").string();
  token.id = int32_t(field.at("id").integer(0, maxId));
  token.singleWord = field.at("single_word").boolean();
  token.stripLeft = field.at("lstrip").boolean();
  token.stripRight = field.at("rstrip").boolean();
  token.normalized = field.at("normalized").boolean();
  token.special = field.at("special").boolean();
  token.found = token.content;
  if (token.normalized && normalizer) {
    Line line;
    line.assign(token.content, {0, uint32_t(token.content.size())});
    normalizer->run(line);
    token.found = line.text;
  }
  return token;
}

void AddedTokens::read(const Field &field, const Vocabulary &vocabulary,
                       const Normalizer *normalizer) {
  if (field.isNull())
    return;
  auto next = int64_t(vocabulary.size());
  for (size_t i = 0; i < field.array().size(); ++i) {
    Field entry = field.at(i);
    AddedToken token = readToken(entry, normalizer);
    if (token.content.empty())
      continue;
    // A token of the vocabulary keeps its id; others follow each other.
    int32_t id = find(token.content);
    bool known = id >= 0;
    if (!known)
      id = vocabulary.find(token.content);
    if (id < 0) {
      id = int32_t(std::min(next++, maxId));
      ++own;
    }
    if (id != token.id)
      entry.at("id").wrong(fmt::format("'{}' has id {} by its place, not {}",
                                       printableName(token.content), id,
                                       token.id));
    if (!known && byId.contains(id))
      entry.at("id").wrong(fmt::format("'{}' and '{}' both have id {}",
                                       printableName(byId[id].content),
                                       printableName(token.content), id));
    ids[token.content] = id;
    if (token.special)
      special.insert(token.content);
    byId.insert_or_assign(id, std::move(token));
  }
  makeTries(field);
}

void AddedTokens::makeTries(const Field &field) {
  std::vector<std::pair<std::string_view, int32_t>> plain, normalized;
  for (const auto &[id, token] : byId)
    (token.normalized ? normalized : plain).emplace_back(token.found, id);
  std::ranges::sort(normalized);
  for (size_t i = 0; i + 1 < normalized.size(); ++i)
    if (normalized[i].first == normalized[i + 1].first)
      field.wrong(
          fmt::format("'{}' and '{}' are the same in their normal form, '{}'",
                      printableName(byId[normalized[i].second].content),
                      printableName(byId[normalized[i + 1].second].content),
                      printableName(normalized[i].first)));
  std::erase_if(normalized,
                [](const auto &token) { return token.first.empty(); });
  anyPlain = !plain.empty();
  anyNormalized = !normalized.empty();
  plainTrie.build(std::move(plain));
  normalizedTrie.build(std::move(normalized));
}

const AddedToken *AddedTokens::find(int32_t id) const {
  auto found = byId.find(id);
  return found == byId.end() ? nullptr : &found->second;
}

int32_t AddedTokens::find(std::string_view content) const {
  auto found = ids.find(content);
  return found == ids.end() ? -1 : found->second;
}

namespace {

bool isWord(char32_t c) { return classesOf(c) & charWord; }
bool isSpace(char32_t c) { return classesOf(c) & charSpace; }

/// Whether words go on into the part from `begin` to `end`, or out of it.
bool isPartOfWord(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && isWord(charBefore(text, begin)))
    return true;
  return end < text.size() && isWord(nextChar(text, end));
}

/// The longest token at `at`; moves `end` behind it.
int32_t longest(const Trie &trie, std::string_view text, size_t at,
                size_t &end) {
  int32_t id = -1;
  uint32_t node = Trie::root;
  for (size_t i = at; i < text.size(); ++i) {
    node = trie.next(node, uint8_t(text[i]));
    if (node == Trie::none)
      break;
    if (trie.id(node) < 0)
      continue;
    id = trie.id(node);
    end = i + 1;
  }
  return id;
}

void strip(const AddedToken &token, std::string_view text, size_t done,
           size_t &begin, size_t &end) {
  while (token.stripLeft && begin > done && isSpace(charBefore(text, begin)))
    do
      --begin;
    while ((text[begin] & 0xC0) == 0x80);
  for (size_t next = end; token.stripRight && next < text.size(); end = next)
    if (!isSpace(nextChar(text, next)))
      break;
}

} // namespace

void AddedTokens::cut(Pieces &pieces, bool normalized) const {
  if (!(normalized ? anyNormalized : anyPlain))
    return;
  const Trie &trie = normalized ? normalizedTrie : plainTrie;
  pieces.split([&](std::string_view text, auto add) {
    size_t done = 0, at = 0;
    while (at < text.size()) {
      size_t end = at;
      int32_t id = longest(trie, text, at, end);
      if (id < 0) {
        ++at;
        continue;
      }
      const AddedToken &token = byId.at(id);
      size_t begin = at;
      at = end;
      if (token.singleWord && isPartOfWord(text, begin, end))
        continue;
      begin = std::max(begin, done);
      strip(token, text, done, begin, end);
      add(done, begin);
      add(begin, end, id);
      done = end;
    }
    add(done, text.size());
  });
}

} // namespace sinter::text
