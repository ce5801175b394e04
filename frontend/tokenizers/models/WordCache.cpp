/// The tokens of words that were met before.
#include "frontend/tokenizers/models/WordCache.h"
#include "frontend/tokenizers/Vocabulary.h"

namespace sinter::text {

void WordCache::clear() {
  slots.assign(numSlots, {});
  keys.clear();
  kept.clear();
  used = 0;
}

bool WordCache::find(std::string_view word, Tokens &tokens) {
  if (slots.empty())
    clear();
  uint64_t hash = hashOf(word);
  size_t at = hash % numSlots;
  for (; slots[at].used; at = (at + 1) % numSlots) {
    const Slot &slot = slots[at];
    if (slot.hash != hash || slot.length != word.size() ||
        std::string_view(keys).substr(slot.key, slot.length) != word)
      continue;
    tokens.insert(tokens.end(), kept.begin() + slot.tokens,
                  kept.begin() + slot.tokens + slot.count);
    return true;
  }
  last = at;
  lastHash = hash;
  return false;
}

void WordCache::keep(std::string_view word, std::span<const Token> tokens) {
  if (used == maxUsed) {
    clear();
    last = lastHash % numSlots;
  }
  slots[last] = {lastHash,
                 uint32_t(keys.size()),
                 uint32_t(kept.size()),
                 uint16_t(word.size()),
                 uint16_t(tokens.size()),
                 true};
  ++used;
  keys += word;
  kept.insert(kept.end(), tokens.begin(), tokens.end());
}

} // namespace sinter::text
