/// Model: words become tokens.
#pragma once

#include "frontend/tokenizers/JsonField.h"
#include "frontend/tokenizers/Vocabulary.h"
#include "frontend/tokenizers/models/WordCache.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace sinter::text {

/// A symbol of a word that is being merged.
struct Symbol {
  int32_t id;
  uint32_t length; ///< in bytes of the word; 0: merged into another
  int32_t before, after;
};

struct Candidate {
  uint32_t rank;
  int32_t at, id;
};

/// The best way to a place of a word.
struct Best {
  double score = 0;
  int32_t from = -1, id = 0;
};

/// Memory of models, one per thread that encodes.
struct ModelMemory {
  WordCache cache;
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
  std::vector<uint32_t> ranks;
  std::vector<int32_t> merged;
  std::vector<Best> best;
  std::string key;
};

class Model {
public:
  virtual ~Model() = default;
  /// Appends the tokens of a word, which is not empty. `bytes`: its bytes stand
  /// for characters of the byte alphabet.
  virtual void run(std::string_view word, bool bytes, ModelMemory &memory,
                   Tokens &tokens) const = 0;
  /// Whether `bytes` may be true.
  virtual bool readsBytes() const { return false; }
  /// The id whose tokens have the text that they stand for, or -1: others have
  /// that of the vocabulary.
  virtual int32_t textId() const { return -1; }

  Vocabulary vocabulary;
};

std::unique_ptr<const Model> readModel(const Field &field);

std::unique_ptr<const Model> readBpe(const Field &field);
std::unique_ptr<const Model> readUnigram(const Field &field);
std::unique_ptr<const Model> readWordPiece(const Field &field);
std::unique_ptr<const Model> readWordLevel(const Field &field);

/// `<0x41>` of 0x41.
std::string byteToken(uint8_t byte);

} // namespace sinter::text
