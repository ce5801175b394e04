/// Which model there is, and the simple ones.
#include "frontend/tokenizers/Types.h"
#include "frontend/tokenizers/characters/Unicode.h"
#include "frontend/tokenizers/models/Model.h"
#include "frontend/tokenizers/models/Trie.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

namespace sinter::text {

std::string byteToken(uint8_t byte) { return fmt::format("<0x{:02X}>", byte); }

namespace {

/// A vocabulary that has, or lacks, a token for what is unknown.
class WithUnknown : public Model {
protected:
  std::string unknown;

  int32_t unknownId() const {
    int32_t id = vocabulary.find(unknown);
    if (id < 0)
      fail(ErrorKind::invalid_argument,
           fmt::format("the text has words that are no tokens, and neither is "
                       "model.unk_token, '{}'",
                       printableName(unknown)));
    return id;
  }
};

/// The longest token that a word begins with, then that which the rest begins
/// with (Schuster, Nakajima: Japanese and Korean Voice Search, 2012).
class WordPiece : public WithUnknown {
public:
  explicit WordPiece(const Field &field) {
    field.onlyHas({"type", "unk_token", "continuing_subword_prefix",
                   "max_input_chars_per_word", "vocab"});
    unknown = field.stringOr("unk_token", "[UNK]");
    if (Field given = field.get("max_input_chars_per_word"); !given.isNull())
      maxChars = size_t(given.integer(0, INT64_MAX));
    vocabulary = Vocabulary::read(field.at("vocab"));
    std::vector<std::pair<std::string_view, int32_t>> all;
    vocabulary.forEach([&](std::string_view token, int32_t id) {
      all.emplace_back(token, id);
    });
    trie.build(std::move(all));
    for (char byte : field.stringOr("continuing_subword_prefix", "##"))
      if (rest != Trie::none)
        rest = trie.next(rest, uint8_t(byte));
  }

  void run(std::string_view word, bool, ModelMemory &memory,
           Tokens &tokens) const override {
    bool kept = word.size() <= WordCache::maxLength;
    if (kept && memory.cache.find(word, tokens))
      return;
    size_t first = tokens.size();
    if (countChars(word) > maxChars || !cut(word, tokens)) {
      tokens.resize(first);
      tokens.push_back({unknownId(), 0, uint32_t(word.size())});
    }
    if (kept)
      memory.cache.keep(word, std::span(tokens).subspan(first));
  }

private:
  size_t maxChars = 100;
  Trie trie;
  uint32_t rest = Trie::root; ///< behind the prefix, or none

  bool cut(std::string_view word, Tokens &tokens) const {
    for (size_t at = 0; at < word.size();) {
      uint32_t node = at == 0 ? uint32_t(Trie::root) : rest;
      size_t end = at;
      int32_t id = -1;
      for (size_t i = at; i < word.size() && node != Trie::none; ++i) {
        node = trie.next(node, uint8_t(word[i]));
        if (node == Trie::none || trie.id(node) < 0)
          continue;
        id = trie.id(node);
        end = i + 1;
      }
      if (id < 0)
        return false;
      tokens.push_back({id, uint32_t(at), uint32_t(end)});
      at = end;
    }
    return true;
  }
};

/// A word is a token.
class WordLevel : public WithUnknown {
public:
  explicit WordLevel(const Field &field) {
    field.onlyHas({"type", "unk_token", "vocab"});
    unknown = field.stringOr("unk_token", "<unk>");
    vocabulary = Vocabulary::read(field.at("vocab"));
  }

  void run(std::string_view word, bool, ModelMemory &,
           Tokens &tokens) const override {
    int32_t id = vocabulary.find(word);
    tokens.push_back({id < 0 ? unknownId() : id, 0, uint32_t(word.size())});
  }
};

/// Old files do not say the model's type.
size_t modelType(const Field &field) {
  if (!field.get("type").isNull())
    return typeOf(field, modelTypes);
  const Json &object = field.object();
  if (object.contains("merges"))
    return 0;
  if (object.contains("max_input_chars_per_word"))
    return 1;
  if (object.contains("vocab") && object["vocab"].is_array())
    return 2;
  field.at("type");
  return 3;
}

} // namespace

std::unique_ptr<const Model> readWordPiece(const Field &field) {
  return std::make_unique<WordPiece>(field);
}

std::unique_ptr<const Model> readWordLevel(const Field &field) {
  return std::make_unique<WordLevel>(field);
}

std::unique_ptr<const Model> readModel(const Field &field) {
  switch (modelType(field)) {
  case 0:
    return readBpe(field);
  case 1:
    return readWordPiece(field);
  case 2:
    return readUnigram(field);
  default:
    return readWordLevel(field);
  }
}

} // namespace sinter::text
