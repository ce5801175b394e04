/// Collate: the batcher for items that are numbers, rows of numbers, arrays
/// with a shape, or pairs and tuples of these.
#pragma once

#include <sinter/Creation.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::detail {

/// Throws unless all rows of a batch have as many elements as the first.
void checkRow(size_t row, size_t elements, size_t first);
/// Throws unless items of a batch have the shape of the first.
void checkShape(size_t item, std::span<const int64_t> shape,
                std::span<const int64_t> first);

/// A batch's tensor in the making: items are written straight to where its
/// device takes them from.
class BatchRoom {
public:
  BatchRoom(DType dtype, const Dims &shape);
  ~BatchRoom();
  BatchRoom(const BatchRoom &) = delete;

  template <typename T> std::span<T> as() {
    return {reinterpret_cast<T *>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// The tensor, once.
  Tensor tensor();

private:
  struct Room;
  std::unique_ptr<Room> room;
  std::span<std::byte> bytes;
};

template <typename T>
concept Row =
    requires(const T &row) {
      { *row.data() } -> std::convertible_to<double>;
      row.size();
    } &&
    std::is_arithmetic_v<
        std::remove_cvref_t<decltype(*std::declval<const T &>().data())>>;

/// An item that has a shape and writes its numbers itself.
template <typename T>
concept Written = requires(const T &item, std::span<typename T::Element> to) {
  requires std::is_arithmetic_v<typename T::Element>;
  std::span<const int64_t>(item.shape());
  item.write(to);
};

template <typename T>
inline constexpr bool isCollated =
    std::is_arithmetic_v<T> || Row<T> || Written<T>;
template <typename A, typename B>
inline constexpr bool isCollated<std::pair<A, B>> =
    isCollated<A> && isCollated<B>;
template <typename... T>
inline constexpr bool isCollated<std::tuple<T...>> = (isCollated<T> && ...);

} // namespace sinter::detail

namespace sinter::data {

/// Of n numbers a tensor [n]; of n rows (spans, vectors, arrays) of m numbers
/// each a tensor [n, m]; of n items with a `shape()` that `write` their
/// numbers, as Planes, a tensor [n, shape]; of n pairs or tuples a tuple of
/// what it makes of their elements. The dtype is that of the C++ type. Numbers
/// are copied once, to where the device takes them from.
struct Collate {
  template <typename T>
    requires detail::isCollated<T>
  auto operator()(const std::vector<T> &items) const {
    return column(items, std::identity());
  }

private:
  /// `part` gives the element of an item that the tensor is made of.
  template <typename T, typename F>
  static auto column(const std::vector<T> &items, F part) {
    using Part =
        std::remove_cvref_t<std::invoke_result_t<const F &, const T &>>;
    if constexpr (std::is_arithmetic_v<Part>)
      return numbers<Part>(items, part);
    else if constexpr (detail::Written<Part>)
      return written<Part>(items, part);
    else if constexpr (detail::Row<Part>)
      return rows<Part>(items, part);
    else
      return columns<Part>(items, part,
                           std::make_index_sequence<std::tuple_size_v<Part>>());
  }

  template <typename Part, typename T, typename F, size_t... i>
  static auto columns(const std::vector<T> &items, F part,
                      std::index_sequence<i...>) {
    auto each = [&]<size_t n>(std::integral_constant<size_t, n>) {
      return column(items, [part](const T &item) -> const auto & {
        return std::get<n>(part(item));
      });
    };
    if constexpr (requires(Part pair) { pair.first; })
      return std::pair(each(std::integral_constant<size_t, i>())...);
    else
      return std::tuple(each(std::integral_constant<size_t, i>())...);
  }

  static Dim extent(size_t count) { return Dim(static_cast<int64_t>(count)); }

  template <typename Number, typename T, typename F>
  static Tensor numbers(const std::vector<T> &items, F part) {
    detail::BatchRoom room(dtype_of<Number>(), {extent(items.size())});
    auto to = room.as<Number>();
    for (size_t i = 0; i < items.size(); ++i)
      to[i] = part(items[i]);
    return room.tensor();
  }

  template <typename Part, typename T, typename F>
  static Tensor rows(const std::vector<T> &items, F part) {
    using Number =
        std::remove_cvref_t<decltype(*std::declval<const Part &>().data())>;
    size_t elements = items.empty() ? 0 : part(items.front()).size();
    for (size_t i = 0; i < items.size(); ++i)
      detail::checkRow(i, part(items[i]).size(), elements);
    detail::BatchRoom room(dtype_of<Number>(),
                           {extent(items.size()), extent(elements)});
    auto to = room.as<Number>();
    if (elements > 0)
      for (size_t i = 0; i < items.size(); ++i)
        std::memcpy(to.data() + i * elements, part(items[i]).data(),
                    elements * sizeof(Number));
    return room.tensor();
  }

  template <typename Part, typename T, typename F>
  static Tensor written(const std::vector<T> &items, F part) {
    using Number = typename Part::Element;
    Dims dims{extent(items.size())};
    size_t elements = 1;
    if (!items.empty()) {
      const auto &shape = part(items.front()).shape();
      for (int64_t size : shape) {
        dims.push_back(Dim(size));
        elements *= static_cast<size_t>(size);
      }
      for (size_t i = 0; i < items.size(); ++i)
        detail::checkShape(i, part(items[i]).shape(), shape);
    }
    detail::BatchRoom room(dtype_of<Number>(), dims);
    auto to = room.as<Number>();
    for (size_t i = 0; i < items.size(); ++i)
      part(items[i]).write(to.subspan(i * elements, elements));
    return room.tensor();
  }
};

} // namespace sinter::data
