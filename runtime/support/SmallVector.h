/// SmallVector: a vector whose first N elements need no allocation.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace sinter {

/// A vector with room for N elements inside itself. What recording an op
/// needs for a moment (dims, attribute words, operands) lives in these.
/// References are invalidated by growth and by moving the vector.
template <typename T, unsigned N> class SmallVector {
public:
  using value_type = T;

  SmallVector() = default;
  SmallVector(std::initializer_list<T> values)
      : SmallVector(values.begin(), values.end()) {}
  explicit SmallVector(std::span<const T> values) { append(values); }
  template <std::input_iterator It> SmallVector(It first, It last) {
    for (; first != last; ++first)
      push_back(*first);
  }
  explicit SmallVector(size_t count, const T &value = T()) {
    resize(count, value);
  }
  SmallVector(const SmallVector &other) { append(other); }
  SmallVector(SmallVector &&other) noexcept { take(other); }
  SmallVector &operator=(SmallVector other) noexcept {
    release();
    take(other);
    return *this;
  }
  ~SmallVector() { release(); }

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *data() { return items; }
  const T *data() const { return items; }
  T *begin() { return items; }
  T *end() { return items + count; }
  const T *begin() const { return items; }
  const T *end() const { return items + count; }
  T &operator[](size_t i) {
    assert(i < count && "index out of range");
    return items[i];
  }
  const T &operator[](size_t i) const {
    assert(i < count && "index out of range");
    return items[i];
  }
  T &front() { return (*this)[0]; }
  const T &front() const { return (*this)[0]; }
  T &back() { return (*this)[count - 1]; }
  const T &back() const { return (*this)[count - 1]; }
  operator std::span<const T>() const { return {items, count}; }

  void push_back(T value) {
    if (count == room) [[unlikely]]
      grow(room * 2);
    new (static_cast<void *>(items + count)) T(std::move(value));
    ++count;
  }
  void append(std::span<const T> values) {
    if (count + values.size() > room)
      grow(count + values.size());
    std::uninitialized_copy_n(values.data(), values.size(), items + count);
    count += values.size();
  }
  void pop_back() {
    assert(count > 0 && "pop_back of an empty vector");
    items[--count].~T();
  }
  void resize(size_t size, const T &value = T()) {
    while (count > size)
      pop_back();
    while (count < size)
      push_back(value);
  }
  void clear() { resize(0); }

private:
  T *inlineItems() { return reinterpret_cast<T *>(storage); }
  [[gnu::noinline]] void grow(size_t capacity) {
    T *larger = std::allocator<T>().allocate(capacity);
    std::uninitialized_move_n(items, count, larger);
    std::destroy_n(items, count);
    if (items != inlineItems())
      std::allocator<T>().deallocate(items, room);
    items = larger;
    room = capacity;
  }
  void release() {
    std::destroy_n(items, count);
    if (items != inlineItems())
      std::allocator<T>().deallocate(items, room);
  }
  /// Takes the elements of `other`; this holds none and owns no allocation.
  void take(SmallVector &other) {
    items = inlineItems();
    room = N;
    count = other.count;
    if (other.items == other.inlineItems()) {
      if constexpr (std::is_trivially_copyable_v<T> && sizeof(storage) <= 128) {
        // The whole room, used or not: a copy of known size is a few
        // instructions.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
        std::memcpy(storage, other.storage, sizeof(storage));
#pragma GCC diagnostic pop
      } else if constexpr (std::is_trivially_copyable_v<T>) {
        std::memcpy(storage, other.storage, count * sizeof(T));
      } else {
        std::uninitialized_move_n(other.items, count, items);
        std::destroy_n(other.items, count);
      }
    } else {
      items = std::exchange(other.items, other.inlineItems());
      room = std::exchange(other.room, N);
    }
    other.count = 0;
  }

  T *items = inlineItems();
  size_t count = 0;
  size_t room = N;
  alignas(T) std::byte storage[N * sizeof(T)];
};

} // namespace sinter
