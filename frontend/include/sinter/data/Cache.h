/// Cache: items are made once and kept in memory.
#pragma once

#include <sinter/data/Dataset.h>

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sinter::data {

/// Another data set's items, kept from the first time that they are asked for.
/// Copies share what is kept. See `cache`.
template <Dataset D> class Cached {
public:
  using Item = ItemOf<D>;

  Cached(D source, int64_t most)
      : kept(std::make_shared<Kept>(std::move(source), most)) {}

  int64_t size() const {
    return static_cast<int64_t>(detail::held(kept, "size").slots.size());
  }
  Item get(int64_t index) const {
    detail::checkItem(index, size());
    Kept &all = *kept;
    Slot &slot = all.slots[static_cast<size_t>(index)];
    std::unique_lock lock(all.mutex);
    all.made.wait(lock, [&] { return !slot.isInTheMaking; });
    if (std::shared_ptr<const Item> item = slot.item) {
      lock.unlock();
      return *item;
    }
    if (all.count == all.most) { // it is not kept
      lock.unlock();
      return all.source.get(index);
    }
    return all.make(lock, slot, index);
  }
  /// How many items are kept now.
  int64_t kept_items() const {
    Kept &all = detail::held(kept, "kept_items");
    std::lock_guard lock(all.mutex);
    return all.count;
  }

private:
  struct Slot {
    std::shared_ptr<const Item> item;
    bool isInTheMaking = false;
  };
  struct Kept {
    Kept(D from, int64_t most)
        : source(std::move(from)), most(most),
          slots(static_cast<size_t>(source.size())) {}

    /// Others who want this item wait; those who want others do not.
    Item make(std::unique_lock<std::mutex> &lock, Slot &slot, int64_t index) {
      slot.isInTheMaking = true;
      ++count;
      lock.unlock();
      std::shared_ptr<const Item> item;
      try {
        item = std::make_shared<const Item>(source.get(index));
      } catch (...) {
        settle(lock, slot, nullptr);
        throw;
      }
      settle(lock, slot, item);
      return *item;
    }
    void settle(std::unique_lock<std::mutex> &lock, Slot &slot,
                std::shared_ptr<const Item> item) {
      lock.lock();
      slot.isInTheMaking = false;
      if (!item)
        --count;
      slot.item = std::move(item);
      lock.unlock();
      made.notify_all();
    }

    D source;
    const int64_t most;
    std::vector<Slot> slots;
    int64_t count = 0; ///< items that are kept or in the making
    std::mutex mutex;
    std::condition_variable made;
  };

  std::shared_ptr<Kept> kept;
};

/// Keeps items in memory, each from the first time that it is asked for: `get`
/// of `dataset` is called once an item, by whichever thread comes first, again
/// only where it threw. Of more than `most` items the first that were asked for
/// are kept and the others are made each time: in an epoch every item comes
/// once, and what was used last is what will be needed last. What is random
/// belongs behind the cache.
template <Dataset D>
Cached<D> cache(D dataset, int64_t most = std::numeric_limits<int64_t>::max()) {
  return {std::move(dataset), most};
}

} // namespace sinter::data
