/// Structs: reads and fills structs whose sizes callers say.
#pragma once

#include "runtime/capi/Guard.h"
#include "sinter/c_api.h"
#include "sinter/runtime/Result.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <type_traits>

namespace sinter::capi {

/// Bytes of a struct in the first version that had it. A struct that grows gets
/// a specialization with what it was then.
template <typename T> inline constexpr size_t firstBytes = sizeof(T);
template <> inline constexpr size_t firstBytes<sinter_model_options> = 32;

/// An error where no version has a `what` of this size.
Status checkStructSize(size_t size, size_t least, const char *what);
/// An error where bytes that this version does not know are not zero.
Status checkUnknown(const void *data, size_t known, size_t size,
                    const char *what);

/// A copy; fields that the caller's version did not know are zero. Null is an
/// error.
template <typename T> Result<T> readStruct(const T *given, const char *what) {
  if (!given)
    return invalid(fmt::format("{} is null", what));
  SINTER_TRY(checkStructSize(given->struct_size, firstBytes<T>, what));
  size_t known = std::min(given->struct_size, sizeof(T));
  SINTER_TRY(checkUnknown(given, known, given->struct_size, what));
  T value{};
  std::memcpy(&value, given, known);
  return value;
}

/// The same of options, of which none may be given.
template <typename T> Result<T> readOptions(const T *given, const char *what) {
  if (!given)
    return T{};
  return readStruct(given, what);
}

/// Whether the caller has a struct to fill.
template <typename T> Status checkStruct(const T *given, const char *what) {
  if (!given)
    return invalid(fmt::format("{} is null", what));
  return checkStructSize(given->struct_size, firstBytes<T>, what);
}

/// Fills in as much as the caller has; `checkStruct` was called.
template <typename T> void fillStruct(T *to, T value) {
  value.struct_size = to->struct_size;
  std::memcpy(to, &value, std::min(to->struct_size, sizeof(T)));
}

/// Structs side by side, as large as the first one says.
template <typename T> class StructArray {
public:
  StructArray() = default; ///< of none
  static Result<StructArray> make(T *first, size_t count, const char *what) {
    StructArray array;
    array.first = first;
    array.count = count;
    if (count == 0)
      return array;
    SINTER_TRY(checkStruct(first, what));
    array.stride = first->struct_size;
    if (array.stride % alignof(T) != 0)
      return invalid(fmt::format("the struct_size of {} is {}, no multiple of "
                                 "{}",
                                 what, array.stride, alignof(T)));
    for (size_t i = 1; i < count; ++i)
      if (array[i]->struct_size != array.stride)
        return invalid(
            fmt::format("the struct_size of {} {} is {}, that of the "
                        "first {}",
                        what, i, array[i]->struct_size, array.stride));
    return array;
  }
  /// Structs of this version's size.
  static StructArray of(std::span<T> structs) {
    StructArray array;
    array.first = structs.data();
    array.count = structs.size();
    array.stride = sizeof(T);
    return array;
  }
  size_t size() const { return count; }
  T *operator[](size_t i) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return reinterpret_cast<T *>(reinterpret_cast<Byte *>(first) + i * stride);
  }

private:
  T *first = nullptr;
  size_t count = 0, stride = 0;
};

} // namespace sinter::capi
