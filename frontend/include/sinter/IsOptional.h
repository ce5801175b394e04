/// IsOptional: whether a type is a std::optional.
#pragma once

#include <optional>
#include <type_traits>

namespace sinter::detail {

template <typename T> struct IsOptional : std::false_type {};
template <typename T> struct IsOptional<std::optional<T>> : std::true_type {};

} // namespace sinter::detail
