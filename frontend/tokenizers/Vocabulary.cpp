/// Tokens and their numbers.
#include "frontend/tokenizers/Vocabulary.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>

namespace sinter::text {

uint64_t hashOf(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

void StringMap::reserve(size_t wanted) {
  slots.assign(std::bit_ceil(std::max<size_t>(2 * wanted, 16)), {});
  count = 0;
}

StringMap::Slot &StringMap::slotOf(std::string_view key, uint64_t hash) {
  size_t mask = slots.size() - 1, at = hash & mask;
  auto upper = uint32_t(hash >> 32);
  while (slots[at].value >= 0 &&
         (slots[at].hash != upper || slots[at].key != key))
    at = (at + 1) & mask;
  return slots[at];
}

void StringMap::put(std::string_view key, int32_t value) {
  if (slots.size() < 2 * (count + 1)) {
    std::vector<Slot> old = std::move(slots);
    reserve(2 * (count + 1));
    for (const Slot &slot : old)
      if (slot.value >= 0)
        put(slot.key, slot.value);
  }
  uint64_t hash = hashOf(key);
  Slot &slot = slotOf(key, hash);
  count += slot.value < 0;
  slot = {key, uint32_t(hash >> 32), value};
}

int32_t StringMap::find(std::string_view key) const {
  if (slots.empty())
    return -1;
  uint64_t hash = hashOf(key);
  return const_cast<StringMap *>(this)->slotOf(key, hash).value;
}

int32_t Vocabulary::place(int32_t id, int32_t at) {
  if (size_t(id) < places.size())
    return std::exchange(places[size_t(id)], at);
  auto [found, added] = sparse.try_emplace(id, at);
  return added ? -1 : std::exchange(found->second, at);
}

const std::string *Vocabulary::find(int32_t id) const {
  int32_t at = -1;
  if (id >= 0 && size_t(id) < places.size())
    at = places[size_t(id)];
  else if (auto found = sparse.find(id); found != sparse.end())
    at = found->second;
  return at < 0 ? nullptr : &all[size_t(at)].first;
}

Vocabulary Vocabulary::read(const Field &field) {
  Vocabulary made;
  const Json &tokens = field.object();
  made.all.reserve(tokens.size());
  made.ids.reserve(tokens.size());
  made.places.assign(2 * tokens.size() + 1024, -1);
  for (const auto &[token, value] : tokens.items()) {
    bool right = value.is_number_unsigned() && value.get<uint64_t>() <= maxId;
    if (!right)
      Field(value, fmt::format("{}['{}']", field.name(), printableName(token)))
          .integer(0, maxId);
    auto id = value.get<int32_t>();
    auto at = int32_t(made.all.size());
    made.all.emplace_back(token, id);
    if (int32_t other = made.place(id, at); other >= 0)
      field.wrong(fmt::format("tokens '{}' and '{}' both have id {}",
                              printableName(made.all[size_t(other)].first),
                              printableName(token), id));
  }
  for (const auto &[token, id] : made.all)
    made.ids.put(token, id);
  made.count = made.all.size();
  return made;
}

Vocabulary Vocabulary::ofList(std::vector<std::string> tokens) {
  Vocabulary made;
  made.count = tokens.size();
  made.places.resize(tokens.size());
  made.all.reserve(tokens.size());
  made.ids.reserve(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    made.places[i] = int32_t(i);
    made.all.emplace_back(std::move(tokens[i]), int32_t(i));
  }
  // Of a token that is there twice, the last one counts.
  for (const auto &[token, id] : made.all)
    made.ids.put(token, id);
  return made;
}

} // namespace sinter::text
