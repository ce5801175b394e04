/// FieldState: which types of fields can hold what training changes, and how
/// many fields of a plain class do.
#pragma once

#include <sinter/Param.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace sinter {

struct Mode;
class NamedParams;
template <typename T> struct Unnamed;

namespace detail {

class LeftOutFields;

template <typename T> struct TypeTag {
  using Type = T;
};

/// What SINTER_MODULE calls for a class without a base that is a module. It is
/// the worst match; two module bases are an ambiguity, an error.
void sinter_module_base(...);

/// The module class that `T` names with SINTER_MODULE, without its bases.
template <typename T>
concept Module = requires { typename T::sinter_module_type; };

/// The nearest base of a module that is a module, or void.
template <typename T>
using ModuleBase = decltype(sinter_module_base(std::declval<const T &>(),
                                               std::declval<TypeTag<T>>()));

/// The types of some fields of a class.
template <typename... T> struct FieldTypes {};

/// Whether a field of type T can hold a Param or a Mode. A module holds what
/// its fields do; `depth` ends the walk through types that hold themselves.
template <typename T, int depth = 8> constexpr bool holdsState();

template <int depth, typename... T>
constexpr bool anyHoldsState(FieldTypes<T...>) {
  return (holdsState<T, depth>() || ...);
}

template <typename T, int depth> constexpr bool moduleHoldsState() {
  if constexpr (depth == 0) {
    return false;
  } else {
    using Types = decltype(T::sinter_field_types(static_cast<T *>(nullptr)));
    if constexpr (anyHoldsState<depth - 1>(Types()))
      return true;
    else if constexpr (!std::is_void_v<ModuleBase<T>>)
      return moduleHoldsState<typename ModuleBase<T>::Type, depth - 1>();
    else
      return false;
  }
}

/// Whether elements of a container, and what is behind a pointer, do.
template <typename T, int depth> struct HoldsState : std::false_type {};
template <int depth> struct HoldsState<Param, depth> : std::true_type {};
template <int depth> struct HoldsState<NamedParams, depth> : std::true_type {};
template <int depth> struct HoldsState<Mode, depth> : std::true_type {};
template <typename... T, int depth>
struct HoldsState<FieldTypes<T...>, depth>
    : std::bool_constant<(holdsState<T, depth>() || ...)> {};
template <typename T, int depth>
struct HoldsState<Unnamed<T>, depth> : HoldsState<FieldTypes<T>, depth> {};
template <typename T, int depth>
struct HoldsState<std::optional<T>, depth> : HoldsState<FieldTypes<T>, depth> {
};
template <typename T, size_t n, int depth>
struct HoldsState<std::array<T, n>, depth> : HoldsState<FieldTypes<T>, depth> {
};
template <typename T, size_t n, int depth>
struct HoldsState<T[n], depth> : HoldsState<FieldTypes<T>, depth> {};
template <typename T, typename A, int depth>
struct HoldsState<std::vector<T, A>, depth> : HoldsState<FieldTypes<T>, depth> {
};
template <typename T, typename A, int depth>
struct HoldsState<std::deque<T, A>, depth> : HoldsState<FieldTypes<T>, depth> {
};
template <typename T, typename A, int depth>
struct HoldsState<std::list<T, A>, depth> : HoldsState<FieldTypes<T>, depth> {};
template <typename K, typename T, typename C, typename A, int depth>
struct HoldsState<std::map<K, T, C, A>, depth>
    : HoldsState<FieldTypes<T>, depth> {};
template <typename K, typename T, typename H, typename E, typename A, int depth>
struct HoldsState<std::unordered_map<K, T, H, E, A>, depth>
    : HoldsState<FieldTypes<T>, depth> {};
template <typename T, int depth>
struct HoldsState<std::shared_ptr<T>, depth>
    : HoldsState<FieldTypes<T>, depth> {};
template <typename T, typename D, int depth>
struct HoldsState<std::unique_ptr<T, D>, depth>
    : HoldsState<FieldTypes<T>, depth> {};
template <typename... T, int depth>
struct HoldsState<std::tuple<T...>, depth>
    : HoldsState<FieldTypes<T...>, depth> {};
template <typename A, typename B, int depth>
struct HoldsState<std::pair<A, B>, depth>
    : HoldsState<FieldTypes<A, B>, depth> {};
template <typename... T, int depth>
struct HoldsState<std::variant<T...>, depth>
    : HoldsState<FieldTypes<T...>, depth> {};

template <typename T, int depth> constexpr bool holdsState() {
  using Plain = std::remove_cv_t<T>;
  if constexpr (Module<Plain>)
    return moduleHoldsState<Plain, depth>();
  else
    return HoldsState<Plain, depth>::value;
}

/// A pointer that owns nothing, to something that holds state.
template <typename T> struct IsBorrowed : std::false_type {};
template <typename T>
struct IsBorrowed<T *> : std::bool_constant<holdsState<T>()> {};
template <typename T>
struct IsBorrowed<std::weak_ptr<T>> : std::bool_constant<holdsState<T>()> {};
template <typename T>
struct IsBorrowed<std::reference_wrapper<T>>
    : std::bool_constant<holdsState<T>()> {};

//===- Counting -----------------------------------------------------------===//
// The fields of an aggregate are counted by what it can be initialized with.
// Bases, arrays and nested aggregates may count by their own fields.

/// Becomes a field of any type.
template <typename Class> struct AnyField {
  template <typename T>
    requires(!std::is_base_of_v<T, Class>)
  operator T() const;
};
/// Becomes a field that holds state.
template <typename Class> struct StateField {
  template <typename T>
    requires(!std::is_base_of_v<T, Class> && holdsState<T>())
  operator T() const;
};
/// Becomes none; a field that takes it takes everything.
struct NoField {};

constexpr size_t mostCountedFields = 40;

template <typename Class, typename Odd, size_t at, size_t... i>
constexpr bool takes(std::index_sequence<i...>) {
  return requires {
    Class{std::conditional_t<i == at, Odd, AnyField<Class>>()...};
  };
}

/// How many fields `Class` has; 0 when that cannot be told.
template <typename Class> constexpr size_t countFields() {
  size_t most = 0;
  [&]<size_t... n>(std::index_sequence<n...>) {
    ((takes<Class, NoField, n + 1>(std::make_index_sequence<n + 1>())
          ? void(most = n + 1)
          : void()),
     ...);
  }(std::make_index_sequence<mostCountedFields>());
  return most == mostCountedFields ? 0 : most;
}

/// How many of them hold state.
template <typename Class> constexpr size_t countStateFields() {
  if constexpr (!std::is_aggregate_v<Class> || !std::is_class_v<Class>) {
    return 0;
  } else {
    constexpr size_t all = countFields<Class>();
    using Places = std::make_index_sequence<all>;
    return []<size_t... at>(std::index_sequence<at...>) {
      return (size_t(takes<Class, StateField<Class>, at>(Places()) &&
                     !takes<Class, NoField, at>(Places())) +
              ... + 0);
    }(Places());
  }
}

/// Whether a class that is neither a module nor a container holds state, which
/// nothing would find.
template <typename T> constexpr bool hidesState() {
  if constexpr (IsBorrowed<T>::value)
    return true;
  else if constexpr (std::is_class_v<T> && !holdsState<T>())
    return countStateFields<T>() > 0;
  else
    return false;
}

/// How many fields of these types count as ones that hold state.
template <typename T> constexpr size_t countState() {
  if constexpr (std::is_array_v<T>)
    return std::extent_v<T> * countState<std::remove_extent_t<T>>();
  else
    return holdsState<T>() || hidesState<T>();
}
template <typename... T> constexpr size_t countState(FieldTypes<T...>) {
  return (countState<T>() + ... + 0);
}

/// The types that SINTER_NOT_A_FIELD of this class names, not of a base.
template <typename ModuleType> constexpr auto leftOutTypes() {
  using Own = void (ModuleType::*)(LeftOutFields &) const;
  if constexpr (requires {
                  requires std::is_same_v<
                      decltype(&ModuleType::sinter_left_out), Own>;
                })
    return decltype(ModuleType::sinter_left_out_types(
        static_cast<ModuleType *>(nullptr)))();
  else
    return FieldTypes<>();
}

/// Whether SINTER_MODULE and SINTER_NOT_A_FIELD name every field that holds
/// state; true where that cannot be told.
template <typename ModuleType> constexpr bool namesAllState() {
  using Named =
      decltype(ModuleType::sinter_field_types(static_cast<ModuleType *>(0)));
  size_t named = countState(Named()) + countState(leftOutTypes<ModuleType>());
  if constexpr (!std::is_void_v<ModuleBase<ModuleType>>)
    named += countStateFields<typename ModuleBase<ModuleType>::Type>();
  return countStateFields<ModuleType>() <= named;
}

} // namespace detail
} // namespace sinter
