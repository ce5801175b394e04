/// Byte pair encoding (Sennrich, Haddow, Birch: Neural Machine Translation of
/// Rare Words with Subword Units, 2016).
#include "frontend/tokenizers/characters/Forms.h"
#include "frontend/tokenizers/characters/Unicode.h"
#include "frontend/tokenizers/models/MergeMap.h"
#include "frontend/tokenizers/models/Model.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace sinter::text {

namespace {

constexpr uint32_t noRank = std::numeric_limits<uint32_t>::max();
/// Words of up to so many symbols are merged by looking at all pairs.
constexpr size_t shortWord = 40;

class Bpe : public Model {
public:
  explicit Bpe(const Field &field);
  void run(std::string_view word, bool bytes, ModelMemory &memory,
           Tokens &tokens) const override;
  bool readsBytes() const override { return hasBytes; }

private:
  MergeMap merges;
  std::string prefix, suffix, unknown;
  bool hasUnknown = false, fuseUnknown, fallback, ignoreMerges;
  bool hasBytes = true; ///< all characters of the byte alphabet are tokens
  std::array<int32_t, 256> byteIds, fallbackIds;
  /// Tokens as the bytes that they stand for.
  std::vector<std::string> rawTokens;
  StringMap raw;

  void readMerges(const Field &field);
  void addMerge(const Field &field, size_t rank, std::string_view a,
                std::string_view b);
  void makeRaw();

  void begin(std::string_view word, ModelMemory &memory) const;
  void beginBytes(std::string_view word, ModelMemory &memory) const;
  bool fallBack(std::string_view text, std::vector<Symbol> &symbols) const;
  int32_t unknownId() const;
  void mergeShort(ModelMemory &memory) const;
  void mergeLong(ModelMemory &memory) const;
  void push(ModelMemory &memory, int32_t at) const;
};

Bpe::Bpe(const Field &field)
    : prefix(field.stringOr("continuing_subword_prefix", "")),
      suffix(field.stringOr("end_of_word_suffix", "")),
      unknown(field.stringOr("unk_token", "")),
      hasUnknown(!field.get("unk_token").isNull()),
      fuseUnknown(field.booleanOr("fuse_unk", false)),
      fallback(field.booleanOr("byte_fallback", false)),
      ignoreMerges(field.booleanOr("ignore_merges", false)) {
  field.onlyHas({"type", "dropout", "unk_token", "continuing_subword_prefix",
                 "end_of_word_suffix", "fuse_unk", "byte_fallback",
                 "ignore_merges", "vocab", "merges"});
  Field dropout = field.get("dropout");
  if (!dropout.isNull() && dropout.number() != 0)
    dropout.unsupported("merges are not left out at random, it may be null");
  vocabulary = Vocabulary::read(field.at("vocab"));
  readMerges(field.at("merges"));
  for (int i = 0; i < 256; ++i) {
    std::string text;
    appendChar(text, charOfByte(uint8_t(i)));
    byteIds[size_t(i)] = vocabulary.find(text);
    hasBytes &= byteIds[size_t(i)] >= 0;
    fallbackIds[size_t(i)] = vocabulary.find(byteToken(uint8_t(i)));
  }
  hasBytes &= prefix.empty() && suffix.empty();
  if (hasBytes && ignoreMerges)
    makeRaw();
}

void Bpe::readMerges(const Field &field) {
  const Json &list = field.array();
  merges.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const Json &merge = list[i];
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
        merge[1].is_string()) {
      addMerge(field, i, merge[0].get_ref<const std::string &>(),
               merge[1].get_ref<const std::string &>());
      continue;
    }
    // The older form, whose comment is its first line.
    std::string_view text = field.at(i).string();
    if (text.starts_with("#version"))
      continue;
    size_t space = text.find(' ');
    if (space == text.npos || text.find(' ', space + 1) != text.npos)
      field.at(i).wrong(
          fmt::format("'{}' is no pair of tokens", printableName(text)));
    addMerge(field, i, text.substr(0, space), text.substr(space + 1));
  }
}

void Bpe::addMerge(const Field &field, size_t rank, std::string_view a,
                   std::string_view b) {
  auto idOf = [&](std::string_view token) {
    int32_t id = vocabulary.find(token);
    if (id < 0)
      field.at(rank).wrong(fmt::format("'{}' is no token of the vocabulary",
                                       printableName(token)));
    return id;
  };
  int32_t left = idOf(a), right = idOf(b);
  if (b.size() < prefix.size())
    field.at(rank).wrong(fmt::format("'{}' is shorter than the prefix '{}'",
                                     printableName(b), printableName(prefix)));
  std::string joined(a);
  joined += b.substr(prefix.size());
  merges.put(left, right, {uint32_t(rank), idOf(joined)});
}

void Bpe::makeRaw() {
  rawTokens.reserve(vocabulary.size());
  std::vector<int32_t> ids;
  vocabulary.forEach([&](std::string_view token, int32_t id) {
    std::string bytes;
    for (size_t at = 0; at < token.size();) {
      int byte = byteOfChar(nextChar(token, at));
      if (byte < 0)
        return;
      bytes += char(byte);
    }
    rawTokens.push_back(std::move(bytes));
    ids.push_back(id);
  });
  raw.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i)
    raw.put(rawTokens[i], ids[i]);
}

int32_t Bpe::unknownId() const {
  int32_t id = vocabulary.find(unknown);
  if (id < 0)
    fail(ErrorKind::invalid_argument,
         fmt::format("the text has characters that are no tokens, and neither "
                     "is model.unk_token, '{}'",
                     printableName(unknown)));
  return id;
}

bool Bpe::fallBack(std::string_view text, std::vector<Symbol> &symbols) const {
  if (!fallback || std::ranges::any_of(text, [&](char byte) {
        return fallbackIds[uint8_t(byte)] < 0;
      }))
    return false;
  for (char byte : text)
    symbols.push_back({fallbackIds[uint8_t(byte)], 1, 0, 0});
  return true;
}

void Bpe::beginBytes(std::string_view word, ModelMemory &memory) const {
  for (char byte : word)
    memory.symbols.push_back({byteIds[uint8_t(byte)], 1, 0, 0});
}

/// The symbols that a word begins as: its characters.
void Bpe::begin(std::string_view word, ModelMemory &memory) const {
  Symbol pending = {-1, 0, 0, 0}; // an unknown one, that may grow
  auto settle = [&] {
    if (pending.id >= 0)
      memory.symbols.push_back(std::exchange(pending, {-1, 0, 0, 0}));
  };
  for (size_t at = 0; at < word.size();) {
    size_t begin = at;
    at += charLength(word[at]);
    std::string_view text = word.substr(begin, at - begin);
    auto length = uint32_t(text.size());
    if ((begin > 0 && !prefix.empty()) ||
        (at == word.size() && !suffix.empty())) {
      memory.key = begin > 0 ? prefix : "";
      memory.key += text;
      if (at == word.size())
        memory.key += suffix;
      text = memory.key;
    }
    if (int32_t id = vocabulary.find(text); id >= 0) {
      settle();
      memory.symbols.push_back({id, length, 0, 0});
      continue;
    }
    // What is pending comes after these.
    if (fallBack(text, memory.symbols) || !hasUnknown)
      continue;
    if (pending.id >= 0 && fuseUnknown) {
      pending.length += length;
      continue;
    }
    settle();
    pending = {unknownId(), length, 0, 0};
  }
  settle();
}

/// Merges the pair of the lowest rank, the first of those, until there is none.
void Bpe::mergeShort(ModelMemory &memory) const {
  auto &symbols = memory.symbols;
  auto &ranks = memory.ranks;
  auto &merged = memory.merged;
  size_t count = symbols.size();
  ranks.assign(count, noRank);
  merged.assign(count, -1);
  auto look = [&](size_t i) {
    const Merge *merge = merges.find(symbols[i].id, symbols[i + 1].id);
    ranks[i] = merge ? merge->rank : noRank;
    merged[i] = merge ? merge->id : -1;
  };
  for (size_t i = 0; i + 1 < count; ++i)
    look(i);
  while (count > 1) {
    auto least = std::min_element(ranks.begin(),
                                  ranks.begin() + std::ptrdiff_t(count - 1));
    if (*least == noRank)
      break;
    auto at = size_t(least - ranks.begin());
    symbols[at].id = merged[at];
    symbols[at].length += symbols[at + 1].length;
    auto remove = [&](auto &list) {
      std::copy(list.begin() + std::ptrdiff_t(at) + 2,
                list.begin() + std::ptrdiff_t(count),
                list.begin() + std::ptrdiff_t(at) + 1);
    };
    remove(symbols);
    remove(ranks);
    remove(merged);
    --count;
    if (at + 1 < count)
      look(at);
    else
      ranks[at] = noRank;
    if (at > 0)
      look(at - 1);
  }
  symbols.resize(count);
}

/// Whether `a` comes after `b`.
bool isLater(const Candidate &a, const Candidate &b) {
  return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
}

void Bpe::push(ModelMemory &memory, int32_t at) const {
  const Symbol &left = memory.symbols[size_t(at)];
  const Merge *merge =
      merges.find(left.id, memory.symbols[size_t(left.after)].id);
  if (!merge)
    return;
  memory.heap.push_back({merge->rank, at, merge->id});
  std::ranges::push_heap(memory.heap, isLater);
}

/// The same by a heap, for words that are texts.
void Bpe::mergeLong(ModelMemory &memory) const {
  auto &symbols = memory.symbols;
  auto &heap = memory.heap;
  auto count = int32_t(symbols.size());
  heap.clear();
  for (int32_t i = 0; i < count; ++i) {
    symbols[size_t(i)].before = i - 1;
    symbols[size_t(i)].after = i + 1 < count ? i + 1 : -1;
  }
  for (int32_t i = 0; i + 1 < count; ++i)
    push(memory, i);
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, isLater);
    Candidate top = heap.back();
    heap.pop_back();
    Symbol &left = symbols[size_t(top.at)];
    if (left.length == 0 || left.after < 0)
      continue;
    Symbol &right = symbols[size_t(left.after)];
    // The pair may be another by now.
    const Merge *merge = merges.find(left.id, right.id);
    if (!merge || merge->id != top.id)
      continue;
    left.id = top.id;
    left.length += right.length;
    left.after = right.after;
    right.length = 0;
    if (left.after >= 0)
      symbols[size_t(left.after)].before = top.at;
    if (left.before >= 0)
      push(memory, left.before);
    if (left.after >= 0)
      push(memory, top.at);
  }
  std::erase_if(symbols,
                [](const Symbol &symbol) { return symbol.length == 0; });
}

void Bpe::run(std::string_view word, bool bytes, ModelMemory &memory,
              Tokens &tokens) const {
  auto length = uint32_t(word.size());
  if (ignoreMerges) {
    int32_t id = bytes ? raw.find(word) : vocabulary.find(word);
    if (id >= 0) {
      tokens.push_back({id, 0, length});
      return;
    }
  }
  bool kept = word.size() <= WordCache::maxLength;
  if (kept && memory.cache.find(word, tokens))
    return;
  memory.symbols.clear();
  if (bytes)
    beginBytes(word, memory);
  else
    begin(word, memory);
  if (memory.symbols.size() <= shortWord)
    mergeShort(memory);
  else
    mergeLong(memory);
  size_t first = tokens.size();
  uint32_t at = 0;
  for (const Symbol &symbol : memory.symbols) {
    tokens.push_back({symbol.id, at, at + symbol.length});
    at += symbol.length;
  }
  if (kept)
    memory.cache.keep(word, std::span(tokens).subspan(first));
}

} // namespace

std::unique_ptr<const Model> readBpe(const Field &field) {
  return std::make_unique<Bpe>(field);
}

} // namespace sinter::text
