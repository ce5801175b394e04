/// Axes: a short list of axes (or steps, or a permutation).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace sinter {

/// Up to 8 integers by value. Default-constructed it stands for every axis;
/// negative axes count from the end. Converts from `1`, `{0, 2}` and vectors.
class Axes {
public:
  static constexpr size_t capacity = 8;

  Axes() = default;
  template <std::integral T> Axes(T axis) : count(1), all(false) {
    values[0] = static_cast<int64_t>(axis);
  }
  Axes(std::initializer_list<int64_t> list)
      : Axes(std::span<const int64_t>(list.begin(), list.size())) {}
  Axes(const std::vector<int64_t> &list)
      : Axes(std::span<const int64_t>(list)) {}
  explicit Axes(std::span<const int64_t> list);

  bool isAll() const { return all; }
  size_t size() const { return count; }
  const int64_t *begin() const { return values; }
  const int64_t *end() const { return values + count; }
  operator std::span<const int64_t>() const { return {values, count}; }

private:
  int64_t values[capacity] = {};
  size_t count = 0;
  bool all = true;
};

} // namespace sinter
