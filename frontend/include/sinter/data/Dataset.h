/// Data sets: anything with `size()` items that `get(index)` gives; and data
/// sets made of others.
#pragma once

#include <sinter/Held.h>
#include <sinter/data/Shuffle.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::detail {
/// Throws an `invalid_argument` Error unless 0 <= index < size.
void checkItem(int64_t index, int64_t size);
/// How many of `size` items a share of them is.
int64_t countOf(double share, int64_t size);
/// The numbers below `size` but every `step`th, and these.
std::pair<std::vector<int64_t>, std::vector<int64_t>> everyNth(int64_t size,
                                                               int64_t step);
} // namespace sinter::detail

namespace sinter::data {

/// `get` gives the same item for the same index each time, and may be called
/// from several threads at once. Copies are cheap.
template <typename D>
concept Dataset =
    std::copy_constructible<D> && requires(const D &dataset, int64_t index) {
      { dataset.size() } -> std::convertible_to<int64_t>;
      dataset.get(index);
    };

/// What a data set's `get` gives, by value.
template <Dataset D>
using ItemOf = std::remove_cvref_t<decltype(std::declval<const D &>().get(0))>;

/// Items in memory, shared by all copies.
template <typename T> class InMemory {
public:
  explicit InMemory(std::vector<T> items)
      : items(std::make_shared<const std::vector<T>>(std::move(items))) {}

  int64_t size() const {
    return static_cast<int64_t>(detail::held(items, "size").size());
  }
  const T &get(int64_t index) const {
    detail::checkItem(index, size());
    return (*items)[static_cast<size_t>(index)];
  }

private:
  std::shared_ptr<const std::vector<T>> items;
};

/// What a function makes of another data set's items, each time they are asked
/// for; see `map`.
template <Dataset D, typename F> class Mapped {
public:
  Mapped(D source, F function)
      : source(std::move(source)), function(std::move(function)) {}

  int64_t size() const { return source.size(); }
  decltype(auto) get(int64_t index) const {
    return std::invoke(function, source.get(index));
  }

private:
  D source;
  F function;
};

/// Some of another data set's items, in an order of their own.
template <Dataset D> class Subset {
public:
  /// Indices may come more than once.
  Subset(D source, std::vector<int64_t> indices) : source(std::move(source)) {
    for (int64_t index : indices)
      detail::checkItem(index, this->source.size());
    order = std::make_shared<const std::vector<int64_t>>(std::move(indices));
  }

  int64_t size() const {
    return static_cast<int64_t>(detail::held(order, "size").size());
  }
  decltype(auto) get(int64_t index) const {
    detail::checkItem(index, size());
    return source.get((*order)[static_cast<size_t>(index)]);
  }
  /// Where the items stand in the other data set.
  const std::vector<int64_t> &indices() const {
    return detail::held(order, "indices");
  }

private:
  D source;
  std::shared_ptr<const std::vector<int64_t>> order;
};

/// Two parts of a data set without an item in common.
template <Dataset D> struct Split {
  Subset<D> train;
  Subset<D> valid;
};

/// `function(item)` for each item. The function is called by the threads of a
/// loader, and draws random numbers from the thread's default generator.
template <Dataset D, std::invocable<ItemOf<D>> F>
Mapped<D, F> map(D dataset, F function) {
  return {std::move(dataset), std::move(function)};
}

template <Dataset D> Subset<D> subset(D dataset, std::vector<int64_t> indices) {
  return {std::move(dataset), std::move(indices)};
}

/// All items in an order that only `seed` decides. A loader that should take
/// another order each epoch has a sampler for that.
template <Dataset D> Subset<D> shuffle(D dataset, uint64_t seed) {
  std::vector<int64_t> order = shuffled(dataset.size(), seed);
  return {std::move(dataset), std::move(order)};
}

/// The last `share` of the items, rounded, for validation, the others for
/// training; with a seed, of the items in the order that it decides.
template <Dataset D>
Split<D> split(const D &dataset, double share,
               std::optional<uint64_t> seed = {}) {
  int64_t size = dataset.size();
  std::vector<int64_t> order = seed ? shuffled(size, *seed) : consecutive(size);
  auto cut = order.end() - detail::countOf(share, size);
  return {{dataset, {order.begin(), cut}}, {dataset, {cut, order.end()}}};
}

/// Every `step`th item for validation, beginning with number step - 1; the
/// others for training.
template <Dataset D> Split<D> split_every(const D &dataset, int64_t step) {
  auto [train, valid] = detail::everyNth(dataset.size(), step);
  return {{dataset, std::move(train)}, {dataset, std::move(valid)}};
}

} // namespace sinter::data
