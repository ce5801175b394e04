/// Data sets made of several others, and of parts of one.
#pragma once

#include <sinter/data/Dataset.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::detail {
/// Throws an `invalid_argument` Error unless 0 <= begin <= end <= size.
void checkRange(int64_t begin, int64_t end, int64_t size,
                const std::source_location &where);
/// How many windows of `length` items there are, one every `step` items.
int64_t countWindows(int64_t size, int64_t length, int64_t step,
                     const std::source_location &where);
/// Throws an `invalid_argument` Error unless all sizes are the first.
void checkSameSizes(const int64_t *sizes, size_t count,
                    const std::source_location &where);
} // namespace sinter::detail

namespace sinter::data {

/// The items of several data sets, those of the first one first; see `concat`.
template <Dataset... D> class Concatenated {
public:
  using Item = std::common_type_t<ItemOf<D>...>;

  explicit Concatenated(D... parts) : parts(std::move(parts)...) {
    std::apply(
        [&](const D &...part) {
          size_t i = 0;
          ((ends[i] = (i ? ends[i - 1] : 0) + part.size(), ++i), ...);
        },
        this->parts);
  }

  int64_t size() const { return ends.back(); }
  Item get(int64_t index) const {
    detail::checkItem(index, size());
    return from<0>(index);
  }

private:
  template <size_t i> Item from(int64_t index) const {
    if constexpr (i + 1 < sizeof...(D))
      if (index >= ends[i])
        return from<i + 1>(index);
    return std::get<i>(parts).get(index - (i ? ends[i ? i - 1 : 0] : 0));
  }

  std::tuple<D...> parts;
  std::array<int64_t, sizeof...(D)> ends{};
};

/// Item i of several data sets side by side; see `zip`.
template <Dataset... D> class Zipped {
public:
  explicit Zipped(const std::source_location &where, D... parts)
      : parts(std::move(parts)...) {
    std::apply(
        [&](const D &...part) {
          std::array<int64_t, sizeof...(D)> sizes{part.size()...};
          detail::checkSameSizes(sizes.data(), sizes.size(), where);
          count = sizes[0];
        },
        this->parts);
  }

  int64_t size() const { return count; }
  /// A pair of two, a tuple of more.
  auto get(int64_t index) const {
    detail::checkItem(index, count);
    return std::apply(
        [&](const D &...part) {
          if constexpr (sizeof...(D) == 2)
            return std::pair<ItemOf<D>...>(part.get(index)...);
          else
            return std::tuple<ItemOf<D>...>(part.get(index)...);
        },
        parts);
  }

private:
  std::tuple<D...> parts;
  int64_t count = 0;
};

/// Neighbouring items together; see `windows`.
template <Dataset D> class Windows {
public:
  Windows(D source, int64_t length, int64_t step,
          const std::source_location &where)
      : source(std::move(source)), length(length), step(step),
        count(detail::countWindows(this->source.size(), length, step, where)) {}

  int64_t size() const { return count; }
  std::vector<ItemOf<D>> get(int64_t index) const {
    detail::checkItem(index, count);
    std::vector<ItemOf<D>> window;
    window.reserve(static_cast<size_t>(length));
    for (int64_t i = 0; i < length; ++i)
      window.push_back(source.get(index * step + i));
    return window;
  }

private:
  D source;
  int64_t length, step, count;
};

/// A range of another data set's items; see `partial`.
template <Dataset D> class Partial {
public:
  Partial(D source, int64_t begin, int64_t end,
          const std::source_location &where)
      : source(std::move(source)), begin(begin), end(end) {
    detail::checkRange(begin, end, this->source.size(), where);
  }

  int64_t size() const { return end - begin; }
  decltype(auto) get(int64_t index) const {
    detail::checkItem(index, size());
    return source.get(begin + index);
  }

private:
  D source;
  int64_t begin, end;
};

/// All items of the first data set, then those of the next one. Their items
/// have one type, or a common one that they are converted to.
template <Dataset First, Dataset... Others>
Concatenated<First, Others...> concat(First first, Others... others) {
  return Concatenated<First, Others...>(std::move(first), std::move(others)...);
}

/// Pairs, or tuples, of the items that data sets have at the same index. Sizes
/// that differ are an `invalid_argument` Error.
template <Dataset A, Dataset B>
Zipped<A, B> zip(A a, B b,
                 std::source_location where = std::source_location::current()) {
  return Zipped<A, B>(where, std::move(a), std::move(b));
}
template <Dataset A, Dataset B, Dataset C>
Zipped<A, B, C>
zip(A a, B b, C c,
    std::source_location where = std::source_location::current()) {
  return Zipped<A, B, C>(where, std::move(a), std::move(b), std::move(c));
}

/// Vectors of `length` neighbouring items, one beginning every `step` items;
/// none where there are fewer items than `length`.
template <Dataset D>
Windows<D>
windows(D dataset, int64_t length, int64_t step = 1,
        std::source_location where = std::source_location::current()) {
  return {std::move(dataset), length, step, where};
}

/// Items begin to end - 1. A range that the data set does not have is an
/// `invalid_argument` Error.
template <Dataset D>
Partial<D>
partial(D dataset, int64_t begin, int64_t end,
        std::source_location where = std::source_location::current()) {
  return {std::move(dataset), begin, end, where};
}

/// The items that `keep(item)` is true for. Asks for every item once, now.
template <Dataset D, std::predicate<const ItemOf<D> &> F>
Subset<D> filter(D dataset, F keep) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const ItemOf<D> &item = dataset.get(i);
    if (std::invoke(keep, item))
      kept.push_back(i);
  }
  return {std::move(dataset), std::move(kept)};
}

/// What `sample` draws.
struct SampleOptions {
  int64_t count = 0; ///< of items; 0: as many as there are
  uint64_t seed = 0;
  /// Each item is drawn from all. Without, nothing is drawn a second time
  /// before everything was drawn, so any count is possible.
  bool replacement = false;
  /// One of each item: drawn in proportion to it; none below 0, not all 0. With
  /// weights and without replacement no item comes twice, and there must be
  /// `count` weights above 0.
  std::vector<double> weights = {};
};

/// Indices below `size` by these options; what cannot be drawn is an
/// `invalid_argument` Error.
std::vector<int64_t>
sampled(int64_t size, const SampleOptions &options,
        std::source_location where = std::source_location::current());

/// `count` items that the seed decides. A loader that should take others each
/// epoch has a sampler for that.
template <Dataset D>
Subset<D> sample(D dataset, const SampleOptions &options,
                 std::source_location where = std::source_location::current()) {
  std::vector<int64_t> order = sampled(dataset.size(), options, where);
  return {std::move(dataset), std::move(order)};
}

} // namespace sinter::data
