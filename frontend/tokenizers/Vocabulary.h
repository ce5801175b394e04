/// Vocabulary: tokens and their numbers.
#pragma once

#include "frontend/tokenizers/JsonField.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sinter::text {

/// Ids fit into 31 bits.
inline constexpr int64_t maxId = INT32_MAX;

uint64_t hashOf(std::string_view text);

/// Strings with a number each. Strings are owned by others.
class StringMap {
public:
  void reserve(size_t count);
  /// Adds one, or gives a string that is there another number.
  void put(std::string_view key, int32_t value);
  /// The number, or -1.
  int32_t find(std::string_view key) const;
  size_t size() const { return count; }

private:
  struct Slot {
    std::string_view key;
    uint32_t hash = 0;
    int32_t value = -1;
  };
  std::vector<Slot> slots;
  size_t count = 0;

  Slot &slotOf(std::string_view key, uint64_t hash);
};

class Vocabulary {
public:
  Vocabulary() = default;
  Vocabulary(Vocabulary &&) = default;
  Vocabulary &operator=(Vocabulary &&) = default;

  /// Of an object of tokens and ids. Ids are in range, and there is one token
  /// of each.
  static Vocabulary read(const Field &field);
  /// Of tokens that have their places as ids.
  static Vocabulary ofList(std::vector<std::string> tokens);

  int32_t find(std::string_view token) const { return ids.find(token); }
  /// Whether a token has this id.
  bool has(int32_t id) const { return find(id) != nullptr; }
  std::string_view token(int32_t id) const { return *find(id); }
  /// How many tokens there are.
  size_t size() const { return count; }

  /// Calls `f` with each token and its id.
  template <typename Function> void forEach(Function f) const {
    for (const auto &[token, id] : all)
      f(std::string_view(token), id);
  }

private:
  std::vector<std::pair<std::string, int32_t>> all;
  StringMap ids;
  std::vector<int32_t> places;                 ///< in `all`, by id; -1: none
  std::unordered_map<int32_t, int32_t> sparse; ///< or so, where ids are sparse
  size_t count = 0;

  const std::string *find(int32_t id) const;
  /// The place that had the id before, or -1.
  int32_t place(int32_t id, int32_t at);
};

} // namespace sinter::text
