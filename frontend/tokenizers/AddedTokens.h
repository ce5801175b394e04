/// AddedTokens: tokens beside the model's, which are found before anything
/// else.
#pragma once

#include "frontend/tokenizers/Pieces.h"
#include "frontend/tokenizers/Steps.h"
#include "frontend/tokenizers/Vocabulary.h"
#include "frontend/tokenizers/models/Trie.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace sinter::text {

struct AddedToken {
  std::string content;
  std::string found; ///< what is looked for: the content, in its normal form
  int32_t id = 0;
  bool singleWord = false, stripLeft = false, stripRight = false;
  bool normalized = false, special = false;
};

class AddedTokens {
public:
  /// `normalizer` may be null.
  void read(const Field &field, const Vocabulary &vocabulary,
            const Normalizer *normalizer);

  /// Cuts the tokens out that are looked for before the text is normalized, or
  /// after.
  void cut(Pieces &pieces, bool normalized) const;

  bool isEmpty() const { return byId.empty(); }
  const AddedToken *find(int32_t id) const;
  /// The id, or -1.
  int32_t find(std::string_view content) const;
  bool isSpecial(const std::string &content) const {
    return special.contains(content);
  }
  /// How many are no tokens of the vocabulary.
  size_t numOwn() const { return own; }

private:
  std::unordered_map<int32_t, AddedToken> byId;
  std::map<std::string, int32_t, std::less<>> ids;
  std::unordered_set<std::string> special;
  size_t own = 0;
  Trie plainTrie, normalizedTrie;
  bool anyPlain = false, anyNormalized = false;

  void makeTries(const Field &field);
};

} // namespace sinter::text
