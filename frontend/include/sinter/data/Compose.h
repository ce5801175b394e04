/// Compose: several functions as one, for `map`.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sinter::data {

/// An item that has something beside its input, as a picture its class.
template <typename T>
concept InputAndLabel = requires(T item) {
  std::tuple_size<T>::value;
  requires std::tuple_size<T>::value == 2;
  item.first;
  item.second;
};

/// The functions one after the other; see `compose`.
template <typename... F> class Composition {
public:
  explicit Composition(F... functions) : functions(std::move(functions)...) {}

  template <typename T> auto operator()(T item) const {
    return from<0>(std::move(item));
  }

private:
  template <size_t i, typename T> auto from(T item) const {
    if constexpr (i == sizeof...(F))
      return item;
    else
      return from<i + 1>(apply(std::get<i>(functions), std::move(item)));
  }

  template <typename Function, typename T>
  static auto apply(const Function &function, T item) {
    if constexpr (std::invocable<const Function &, T>) {
      return std::invoke(function, std::move(item));
    } else if constexpr (InputAndLabel<T>) {
      auto input = std::invoke(function, std::move(item.first));
      return std::pair<decltype(input), decltype(item.second)>(
          std::move(input), std::move(item.second));
    } else {
      // An item with members `image` and `label`, as
      // sinter::data::LabeledImage.
      auto input = std::invoke(function, std::move(item.image));
      return std::pair<decltype(input), decltype(item.label)>(
          std::move(input), std::move(item.label));
    }
  }

  std::tuple<F...> functions;
};

/// One function that calls the first with an item, the next one with its result
/// and so on:
///
///     auto train = sn::data::map(pictures, sn::data::compose(
///         sn::data::random_crop(32, {.padding = 4}), sn::data::flip(0.5),
///         sn::data::normalize(mean, deviation)));
///
/// A function that does not take a pair is given its first element, and the
/// second one goes along; of a LabeledImage it is given the image, and a pair
/// of what it returns and the label goes on.
template <typename... F> Composition<F...> compose(F... functions) {
  return Composition<F...>(std::move(functions)...);
}

} // namespace sinter::data
