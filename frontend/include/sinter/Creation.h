/// Creation: tensors from host values, constants and ranges.
#pragma once

#include <sinter/Tensor.h>

#include <cstring>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <type_traits>
#include <vector>

namespace sinter {

/// The dtype of a C++ type: float is f32, int64_t is i64, bool is bool.
template <typename T> constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::boolean;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_unsigned_v<T>) {
    return sizeof(T) == 1   ? DType::u8
           : sizeof(T) == 2 ? DType::u16
           : sizeof(T) == 4 ? DType::u32
                            : DType::u64;
  } else {
    static_assert(std::is_integral_v<T>, "no tensor dtype for this C++ type");
    return sizeof(T) == 1   ? DType::i8
           : sizeof(T) == 2 ? DType::i16
           : sizeof(T) == 4 ? DType::i32
                            : DType::i64;
  }
}

/// Where and as what a tensor is made.
struct Options {
  std::optional<DType> dtype = {};     ///< default: of the values; else f32
  std::optional<DeviceId> device = {}; ///< default: the thread's default device
};

/// The device that tensors are made on when none is named. Thread-local; it
/// begins as SINTER_DEVICE, else `cpu`.
DeviceId default_device();
void set_default_device(DeviceId device);
void set_default_device(std::string_view device);
/// Parses `cpu`, `cuda:1`.
DeviceId device(std::string_view name);
/// Waits until the device has done what evaluation left to it. What reads
/// values waits by itself; this is for taking times. An Error of kind `device`
/// says that there is none, or what failed on it.
void synchronize(DeviceId device = default_device());
void synchronize(std::string_view device);

/// A leaf that copies `bytes` (dense, row-major).
Tensor from_bytes(std::span<const std::byte> bytes, DType dtype,
                  const Dims &shape, Options options = {},
                  std::source_location where = std::source_location::current());

/// A leaf that copies `values`; without a shape it has one axis.
template <typename T>
Tensor tensor(std::span<T> values, const Dims &shape, Options options = {},
              std::source_location where = std::source_location::current()) {
  using Element = std::remove_const_t<T>;
  return from_bytes(std::as_bytes(values), dtype_of<Element>(), shape, options,
                    where);
}
template <typename T>
  requires std::is_arithmetic_v<T>
Tensor tensor(const std::vector<T> &values, const Dims &shape,
              Options options = {},
              std::source_location where = std::source_location::current()) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return from_bytes(std::as_bytes(std::span<const uint8_t>(bytes)),
                      DType::boolean, shape, options, where);
  } else {
    return tensor(std::span<const T>(values), shape, options, where);
  }
}
/// The same; `{}` is the shape of a number.
template <typename T>
  requires std::is_arithmetic_v<T>
Tensor tensor(const std::vector<T> &values, std::initializer_list<Dim> shape,
              Options options = {},
              std::source_location where = std::source_location::current()) {
  return tensor(values, Dims(shape), options, where);
}
template <typename T>
  requires std::is_arithmetic_v<T>
Tensor tensor(const std::vector<T> &values,
              std::source_location where = std::source_location::current()) {
  return tensor(values, {Dim(int64_t(values.size()))}, {}, where);
}

namespace detail {
template <typename T>
void appendRow(std::vector<T> &all, std::initializer_list<T> row) {
  all.insert(all.end(), row.begin(), row.end());
}
[[noreturn]] void throwRagged(std::source_location where);
} // namespace detail
/// Of rows that have one length; none are [0,0].
template <typename T>
Tensor tensor(const std::vector<std::vector<T>> &rows, Options options = {},
              std::source_location where = std::source_location::current()) {
  std::vector<T> all;
  size_t columns = rows.empty() ? 0 : rows.front().size();
  for (const std::vector<T> &row : rows) {
    if (row.size() != columns)
      detail::throwRagged(where);
    all.insert(all.end(), row.begin(), row.end());
  }
  return tensor(all, {int64_t(rows.size()), int64_t(columns)}, options, where);
}

/// `tensor({1.f, 2.f})`, `tensor({{1, 2}, {3, 4}})`, and three levels.
template <typename T>
Tensor tensor(std::initializer_list<T> values, Options options = {},
              std::source_location where = std::source_location::current()) {
  return tensor(std::vector<T>(values), {int64_t(values.size())}, options,
                where);
}
template <typename T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows,
              Options options = {},
              std::source_location where = std::source_location::current()) {
  std::vector<T> all;
  size_t columns = rows.size() ? rows.begin()->size() : 0;
  for (std::initializer_list<T> row : rows) {
    if (row.size() != columns)
      detail::throwRagged(where);
    detail::appendRow(all, row);
  }
  return tensor(all, {int64_t(rows.size()), int64_t(columns)}, options, where);
}
template <typename T>
Tensor
tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>>
           planes,
       Options options = {},
       std::source_location where = std::source_location::current()) {
  std::vector<T> all;
  size_t rows = planes.size() ? planes.begin()->size() : 0;
  size_t columns = rows ? planes.begin()->begin()->size() : 0;
  for (auto plane : planes) {
    if (plane.size() != rows)
      detail::throwRagged(where);
    for (std::initializer_list<T> row : plane) {
      if (row.size() != columns)
        detail::throwRagged(where);
      detail::appendRow(all, row);
    }
  }
  return tensor(all, {int64_t(planes.size()), int64_t(rows), int64_t(columns)},
                options, where);
}

/// Every element is `value`, with the number's own dtype unless one is named.
Tensor full(const Dims &shape, const Arg &value, Options options = {});
Tensor zeros(const Dims &shape, Options options = {},
             std::source_location where = std::source_location::current());
Tensor ones(const Dims &shape, Options options = {},
            std::source_location where = std::source_location::current());
/// 0, 1, 2, ... along `axis`; i64 unless a dtype is named.
Tensor iota(const Dims &shape, int64_t axis = 0, Options options = {},
            std::source_location where = std::source_location::current());
/// 0, 1, ..., size - 1.
Tensor arange(Dim size, Options options = {},
              std::source_location where = std::source_location::current());
/// start, start + step, ... before `end` (after it, where the step is
/// negative); i64 unless a dtype is named.
Tensor arange(int64_t start, int64_t end, int64_t step = 1,
              Options options = {},
              std::source_location where = std::source_location::current());
/// `count` numbers from `start` to `end`, both included, at equal distances;
/// f32 unless a float dtype is named.
Tensor linspace(double start, double end, int64_t count, Options options = {},
                std::source_location where = std::source_location::current());
/// A tensor of x's shape, dtype and device.
Tensor full_like(const Arg &x, const Arg &value);
Tensor zeros_like(const Arg &x);
Tensor ones_like(const Arg &x);

} // namespace sinter
