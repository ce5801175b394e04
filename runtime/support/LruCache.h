/// LruCache: values by key, bounded by the sum of their sizes.
#pragma once

#include "runtime/support/Fork.h"

#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace sinter {

/// The least recently used values go when the limit is passed; the newest one
/// stays whatever its size. Thread-safe. `Value{}` means absent.
template <typename Key, typename Value, typename Hash = std::hash<Key>>
class LruCache {
public:
  explicit LruCache(size_t limitBytes) : limit(limitBytes) {}

  Value find(const Key &key) {
    std::lock_guard lock(mutex);
    auto found = index.find(key);
    if (found == index.end())
      return Value{};
    order.splice(order.begin(), order, found->second);
    return found->second->value;
  }

  /// Keeps the value that is there when the key is known.
  void insert(const Key &key, Value value, size_t bytes) {
    std::lock_guard lock(mutex);
    auto [place, isNew] = index.try_emplace(key);
    if (!isNew)
      return;
    try {
      order.push_front({key, std::move(value), bytes});
    } catch (...) {
      index.erase(place);
      throw;
    }
    place->second = order.begin();
    total += bytes;
    while (total > limit && order.size() > 1)
      dropLast();
  }

  void clear() {
    std::lock_guard lock(mutex);
    while (!order.empty())
      dropLast();
  }

private:
  struct Entry {
    Key key;
    Value value;
    size_t bytes = 0;
  };

  void dropLast() {
    total -= order.back().bytes;
    index.erase(order.back().key);
    order.pop_back();
  }

  ForkMutex mutex;
  std::list<Entry> order;
  std::unordered_map<Key, typename std::list<Entry>::iterator, Hash> index;
  size_t limit;
  size_t total = 0;
};

} // namespace sinter
