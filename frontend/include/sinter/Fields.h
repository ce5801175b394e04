/// What SINTER_MODULE finds in a module: its parameters, tensors and modes,
/// by path.
#pragma once

#include <sinter/FieldState.h>
#include <sinter/Param.h>
#include <sinter/Parametrization.h>
#include <sinter/Tensor.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace sinter {

/// Params whose names are made at run time: they stand among the fields of
/// their module, without a name between. A field of a module.
class NamedParams {
public:
  void add(std::string name, Param param) {
    entries.emplace_back(std::move(name), std::move(param));
  }
  /// Null when there is none of that name.
  const Param *find(std::string_view name) const {
    for (const auto &[own, param] : entries)
      if (own == name)
        return &param;
    return nullptr;
  }
  auto begin() { return entries.begin(); }
  auto end() { return entries.end(); }
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }

private:
  std::vector<std::pair<std::string, Param>> entries;
};

/// A field whose own fields stand among those of its module, without a name
/// between.
template <typename T> struct Unnamed {
  T value;
};

namespace detail {

/// The fields below one module, without empty ones. Pointers into the module:
/// valid as long as it is neither moved nor changed in shape.
struct Fields {
  template <typename T> struct Field {
    std::string path; ///< `blocks.0.fc1.weight`
    T *value;
  };
  std::vector<Field<Param>> params;
  std::vector<Field<Tensor>> tensors;
  std::vector<Field<Gradients>> gradients;
  std::vector<Mode *> modes;
  /// When set, numbers, enumerators and strings are appended: path and value.
  std::string *constants = nullptr;
};

/// Bytes of memory that belong to something.
struct Extent {
  const void *begin;
  size_t size;
  std::string path; ///< of a module; empty for the outermost
  const std::type_info *type;
};

/// The fields that SINTER_NOT_A_FIELD names.
class LeftOutFields {
public:
  template <typename T> void operator()(const T &field) {
    extents.push_back({&field, sizeof(T), {}, &typeid(T)});
  }
  std::vector<Extent> extents;
};

/// Where the modules of a walk stand, for `refuseForgotten`.
struct WalkedModules {
  std::vector<Extent> modules;
  LeftOutFields leftOut;
};
/// Throws if a Param lives inside one of the modules that is neither among the
/// fields nor left out on purpose.
void refuseForgotten(const Fields &fields, const WalkedModules &walked);

/// Own copies of what shared pointers share, by the address of the original,
/// which stays alive.
struct SharedCopy {
  std::shared_ptr<const void> original;
  std::shared_ptr<void> copy;
};
using SharedCopies = std::map<const void *, SharedCopy>;

[[noreturn]] void throwHiddenClass(std::string_view path,
                                   const std::type_info &own,
                                   const std::type_info &declared);
[[noreturn]] void throwUncopied(std::string_view path,
                                const std::type_info &type);

/// Whether a pointer to T leads to one thing that can be walked.
template <typename T>
constexpr bool isObject = std::is_object_v<T> && !std::is_array_v<T>;

/// A key of a map as part of a path.
template <typename K> std::string keyText(const K &key) {
  if constexpr (std::is_enum_v<K>)
    return std::to_string(static_cast<std::underlying_type_t<K>>(key));
  else if constexpr (std::is_arithmetic_v<K>)
    return std::to_string(key);
  else
    return std::string(key);
}

/// Goes through fields of every kind and collects what it knows; anything else
/// is a constant of its module.
class FieldWalker {
public:
  explicit FieldWalker(Fields &found, WalkedModules *walked = nullptr,
                       SharedCopies *copies = nullptr)
      : found(found), walked(walked), copies(copies) {}

  /// Called by the code that SINTER_MODULE generates, once a field.
  template <typename T> void operator()(std::string_view name, T &field) {
    size_t length = path.size();
    if (!path.empty())
      path += '.';
    path += name;
    walk(field);
    path.resize(length);
  }

  void operator()(std::string_view, NamedParams &field) {
    for (auto &[name, param] : field)
      (*this)(std::string_view(name), param);
  }

  template <typename T> void operator()(std::string_view, Unnamed<T> &field) {
    walk(field.value);
  }

  template <typename T> void walk(T &field) {
    if constexpr (std::is_const_v<T>) {
      walk(const_cast<std::remove_const_t<T> &>(field));
    } else if constexpr (Module<T>) {
      if (walked) {
        walked->modules.push_back({&field, sizeof(T), path, &typeid(T)});
        if constexpr (requires { field.sinter_left_out(walked->leftOut); })
          field.sinter_left_out(walked->leftOut);
      }
      field.sinter_fields(*this);
    } else {
      walkPlain(field);
    }
  }

private:
  void walkPlain(Param &param) {
    if (!param.defined())
      return;
    found.params.push_back({path, &param});
    if (Parametrization *form = param.parametrization())
      walkParts(*form);
  }
  /// The Params of a parametrization stand below the Param.
  void walkParts(Parametrization &form) {
    for (auto &[name, part] : form.parts)
      (*this)(name, part);
    found.modes.push_back(&form.mode);
    addConstant(form.constants());
  }
  void walkPlain(Tensor &tensor) {
    if (tensor.defined())
      found.tensors.push_back({path, &tensor});
  }
  void walkPlain(Gradients &gradients) {
    found.gradients.push_back({path, &gradients});
  }
  void walkPlain(Mode &mode) { found.modes.push_back(&mode); }
  template <typename T> void walkPlain(std::optional<T> &field) {
    if (field)
      walk(*field);
  }
  template <typename T, typename D>
  void walkPlain(std::unique_ptr<T, D> &field) {
    if constexpr (isObject<T>)
      if (field)
        walkBehind(*field);
  }
  template <typename T> void walkPlain(std::shared_ptr<T> &field) {
    if constexpr (isObject<T>)
      if (field)
        walkShared(field);
  }
  template <typename T> void walkShared(std::shared_ptr<T> &field) {
    if (copies)
      separate(field);
    // One that leads back to itself is walked once.
    if (std::ranges::count(shared, field.get()))
      return;
    shared.push_back(field.get());
    walkBehind(*field);
    shared.pop_back();
  }
  template <typename... T> void walkPlain(std::variant<T...> &field) {
    std::visit([&](auto &own) { walk(own); }, field);
  }
  void walkPlain(std::monostate &) {}
  template <typename T, typename A> void walkPlain(std::vector<T, A> &field) {
    if constexpr (!std::is_same_v<T, bool>)
      walkElements(field);
  }
  template <typename T, typename A> void walkPlain(std::deque<T, A> &field) {
    walkElements(field);
  }
  template <typename T, typename A> void walkPlain(std::list<T, A> &field) {
    walkElements(field);
  }
  template <typename T, size_t n> void walkPlain(std::array<T, n> &field) {
    walkElements(field);
  }
  template <typename T, size_t n> void walkPlain(T (&field)[n]) {
    walkElements(field);
  }
  template <typename K, typename T, typename C, typename A>
  void walkPlain(std::map<K, T, C, A> &field) {
    walkMap(field);
  }
  template <typename K, typename T, typename H, typename E, typename A>
  void walkPlain(std::unordered_map<K, T, H, E, A> &field) {
    walkMap(field);
  }
  template <typename... T> void walkPlain(std::tuple<T...> &field) {
    size_t index = 0;
    std::apply(
        [&](T &...elements) {
          ((*this)(std::to_string(index++), elements), ...);
        },
        field);
  }
  template <typename A, typename B> void walkPlain(std::pair<A, B> &field) {
    (*this)("0", field.first);
    (*this)("1", field.second);
  }
  template <typename T> void walkPlain(T &field) {
    static_assert(!IsBorrowed<T>::value,
                  "a field of SINTER_MODULE owns what it holds: a plain "
                  "pointer or a reference to a module or a Param is named in "
                  "SINTER_NOT_A_FIELD; a std::shared_ptr is a field");
    static_assert(IsBorrowed<T>::value || !hidesState<T>(),
                  "the class of a field of SINTER_MODULE has fields with "
                  "parameters and is no module: it needs SINTER_MODULE, too");
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      addConstant({reinterpret_cast<const char *>(&field), sizeof(T)});
    else if constexpr (std::is_same_v<T, std::string>)
      addConstant(field);
  }
  void addConstant(std::string_view bytes) {
    if (!found.constants)
      return;
    *found.constants += path;
    *found.constants += '=';
    *found.constants += std::to_string(bytes.size());
    *found.constants += ':';
    *found.constants += bytes;
  }

  template <typename T> void walkElements(T &field) {
    size_t index = 0;
    for (auto &element : field)
      (*this)(std::to_string(index++), element);
  }

  /// In the order of the names, whatever the map's is.
  template <typename T> void walkMap(T &field) {
    std::map<std::string, typename T::mapped_type *> elements;
    for (auto &[key, element] : field)
      elements[keyText(key)] = &element;
    for (auto &[name, element] : elements)
      (*this)(name, *element);
  }

  /// What a pointer leads to.
  template <typename T> void walkBehind(T &pointee) {
    if constexpr (std::is_polymorphic_v<T>)
      if (typeid(pointee) != typeid(T))
        throwHiddenClass(path, typeid(pointee), typeid(T));
    walk(pointee);
  }

  /// Lets the pointer point to a copy, one for all that point to the same.
  template <typename T> void separate(std::shared_ptr<T> &field) {
    using Value = std::remove_const_t<T>;
    if constexpr (!holdsState<T>()) {
      return;
    } else if constexpr (!std::is_copy_constructible_v<Value>) {
      throwUncopied(path, typeid(T));
    } else {
      SharedCopy &own = (*copies)[field.get()];
      if (!own.copy)
        own = {field, std::make_shared<Value>(*field)};
      field = std::static_pointer_cast<Value>(own.copy);
    }
  }

  Fields &found;
  WalkedModules *walked;
  SharedCopies *copies;
  std::vector<const void *> shared; ///< that the walk is inside of
  std::string path;
};

/// The fields of the nearest base of `module` that is a module, if any.
template <typename T> void walkBase(T &module, FieldWalker &walker) {
  if constexpr (!std::is_void_v<ModuleBase<T>>)
    static_cast<typename ModuleBase<T>::Type &>(module).sinter_fields(walker);
}

/// The fields below a module or any other field type.
template <typename T> Fields fieldsOf(const T &module) try {
  Fields found;
  FieldWalker(found).walk(const_cast<T &>(module));
  return found;
} catch (...) {
  raiseExhausted({});
}

/// The same; a Param that is in none of them, but lives inside a module of the
/// walk, is an error.
template <typename T> Fields allFieldsOf(const T &module) try {
  Fields found;
  WalkedModules walked;
  FieldWalker(found, &walked).walk(const_cast<T &>(module));
  refuseForgotten(found, walked);
  return found;
} catch (...) {
  raiseExhausted({});
}

/// Makes the Params of `copy`, which was copied from what has the fields
/// `from`, its own ones, tied as those are.
void ownParams(const Fields &from, const Fields &copy);

/// Makes what shared pointers share with others the module's own.
template <typename T> void separateShared(T &module, const Fields &from) try {
  Fields before;
  SharedCopies copies;
  FieldWalker(before, nullptr, &copies).walk(module);
  if (!copies.empty())
    ownParams(from, fieldsOf(module));
} catch (...) {
  raiseExhausted({});
}

/// A copy that shares nothing.
template <typename T> T separateCopy(const T &module) {
  static_assert(std::is_copy_constructible_v<T>,
                "a module that cannot be copied, as one with a "
                "std::unique_ptr, is given up to be changed: "
                "std::move(model).to(device)");
  T copy = module;
  separateShared(copy, allFieldsOf(module));
  return copy;
}

/// The module itself, changed in place by `change(fields)`; it shares nothing.
template <typename T, typename F> T changed(T &&module, F &&change) {
  static_assert(!std::is_lvalue_reference_v<T>);
  T own = std::forward<T>(module);
  separateShared(own, allFieldsOf(own));
  change(fieldsOf(own));
  return own;
}

} // namespace detail
} // namespace sinter
