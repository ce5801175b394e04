/// StepQueue: events that wait to be told on another thread, steps in few
/// bytes.
#pragma once

#include <sinter/train/Events.h>

#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

namespace sinter::train {

/// What values mean, without their numbers: the same from step to step.
using Meanings = std::shared_ptr<const std::vector<Value>>;

/// Whether the values have these meanings, in this order.
bool means(std::span<const Value> values, const Meanings &meanings);

/// What a step says beyond what follows from the one before.
struct StepPlace {
  Split split = Split::train;
  int64_t epoch = 0, step = 0, steps = 0, total_step = 0;
  uint64_t items = 0;

  bool operator==(const StepPlace &) const = default;
};

/// Steps become bytes, other events stay whole; both in one order. A step that
/// follows the one before, of the same meanings, takes 9 bytes and 8 for each
/// number.
class StepQueue {
public:
  void add(const Event &event);
  bool empty() const { return bytes.empty(); }
  size_t size() const { return bytes.size() + rest.size() * sizeof(Event); }

  /// Calls `tell(const Event &)` for each, in order, and is empty then.
  template <typename Tell> void drain(Tell tell);

private:
  /// What stands at the head of each entry.
  enum Head : uint8_t { whole = 1, placed = 2, counted = 4, meant = 8 };
  /// An event with what its span points to.
  struct Kept {
    Event event;
    std::vector<Value> values;
  };

  void addStep(const StepEnd &step);
  template <typename T> void put(const T &value) {
    auto *from = reinterpret_cast<const std::byte *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }
  template <typename T> T take(size_t &at) const {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
  /// The next entry, a step with this head.
  StepEnd takeStep(uint8_t head, size_t &at, StepPlace &place,
                   size_t &nextMeaning, std::vector<Value> &values) const;

  std::vector<std::byte> bytes;
  std::deque<Kept> rest;
  std::vector<Meanings> meanings; ///< where they change, in order
  StepPlace last;                 ///< of the step before, as `placed` has it
  std::vector<uint64_t> lastItems;
};

template <typename Tell> void StepQueue::drain(Tell tell) {
  StepPlace place;
  std::vector<Value> values;
  size_t nextMeaning = 0;
  for (size_t at = 0; at < bytes.size();) {
    auto head = take<uint8_t>(at);
    if (head & whole) {
      tell(std::as_const(rest.front().event));
      rest.pop_front();
    } else {
      tell(Event(takeStep(head, at, place, nextMeaning, values)));
    }
  }
  bytes.clear();
  meanings.clear();
  lastItems.clear();
  last = {};
}

} // namespace sinter::train
