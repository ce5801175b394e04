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
#include <source_location>
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
/// In a handler of what a user's function threw: that function was given at
/// this line. A loader's error says so.
void noteLine(const std::source_location &where) noexcept;
} // namespace sinter::detail

namespace sinter::data {

/// `get` makes item `index`, when it is asked for, and may be called from
/// several threads at once. It may give another item each time, as one with
/// random changes: random numbers of the thread's default generator are those
/// of the loader's seed. Copies are cheap.
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
  Mapped(D source, F function,
         const std::source_location &where = std::source_location::current())
      : source(std::move(source)), function(std::move(function)), line(where) {}

  int64_t size() const { return source.size(); }
  decltype(auto) get(int64_t index) const try {
    return std::invoke(function, source.get(index));
  } catch (...) {
    detail::noteLine(line);
    throw;
  }

private:
  D source;
  F function;
  std::source_location line;
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
/// loader, and draws random numbers from the thread's default generator. What
/// it throws reaches the loop with the line of this call.
template <Dataset D, std::invocable<ItemOf<D>> F>
Mapped<D, F> map(D dataset, F function,
                 std::source_location where = std::source_location::current()) {
  return {std::move(dataset), std::move(function), where};
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
