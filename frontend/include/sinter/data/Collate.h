/// Collate: the batcher for items that are numbers, rows of numbers, or pairs
/// and tuples of these.
#pragma once

#include <sinter/Creation.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::detail {

/// Throws unless all rows of a batch have as many elements as the first.
void checkRow(size_t row, size_t elements, size_t first);

template <typename T>
concept Row =
    requires(const T &row) {
      { *row.data() } -> std::convertible_to<double>;
      row.size();
    } &&
    std::is_arithmetic_v<
        std::remove_cvref_t<decltype(*std::declval<const T &>().data())>>;

} // namespace sinter::detail

namespace sinter::data {

/// Of n numbers a tensor [n]; of n rows (spans, vectors, arrays) of m numbers
/// each a tensor [n, m]; of n pairs or tuples a tuple of what it makes of their
/// elements. The dtype is that of the C++ type.
struct Collate {
  template <typename T>
    requires std::is_arithmetic_v<T>
  Tensor operator()(const std::vector<T> &items) const {
    return tensor(items, {Dim(static_cast<int64_t>(items.size()))});
  }

  template <detail::Row T>
  Tensor operator()(const std::vector<T> &items) const {
    size_t elements = items.empty() ? 0 : items.front().size();
    std::vector<std::remove_cvref_t<decltype(*items.front().data())>> all;
    all.reserve(items.size() * elements);
    for (size_t i = 0; i < items.size(); ++i) {
      detail::checkRow(i, items[i].size(), elements);
      all.insert(all.end(), items[i].begin(), items[i].end());
    }
    return tensor(all, {Dim(static_cast<int64_t>(items.size())),
                        Dim(static_cast<int64_t>(elements))});
  }

  template <typename A, typename B>
  auto operator()(const std::vector<std::pair<A, B>> &items) const {
    return std::pair(column<0>(items), column<1>(items));
  }

  template <typename... T>
  auto operator()(const std::vector<std::tuple<T...>> &items) const {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return std::tuple(column<i>(items)...);
    }(std::index_sequence_for<T...>());
  }

private:
  template <size_t i, typename T>
  auto column(const std::vector<T> &items) const {
    std::vector<std::tuple_element_t<i, T>> part;
    part.reserve(items.size());
    for (const T &item : items)
      part.push_back(std::get<i>(item));
    return (*this)(part);
  }
};

} // namespace sinter::data
