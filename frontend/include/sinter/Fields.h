/// What SINTER_MODULE finds in a module: its parameters, tensors and modes,
/// by path.
#pragma once

#include <sinter/Param.h>
#include <sinter/Tensor.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter {

/// Whether a module trains or predicts, for layers where that differs. A field
/// of a module; `train()` and `eval()` set every one below a module.
struct Mode {
  bool training = true;
};

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

template <typename T> struct TypeTag {
  using Type = T;
};

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

/// What SINTER_MODULE calls for a class without a base that is a module. It is
/// the worst match; two module bases are an ambiguity, an error.
void sinter_module_base(...);

/// The module class that `T` names with SINTER_MODULE, without its bases.
template <typename T>
concept Module = requires { typename T::sinter_module_type; };

/// Goes through fields of every kind and collects what it knows; anything else
/// is a constant of its module.
class FieldWalker {
public:
  explicit FieldWalker(Fields &found) : found(found) {}

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
    if constexpr (Module<T>)
      field.sinter_fields(*this);
    else
      walkPlain(field);
  }

private:
  void walkPlain(Param &param) {
    if (param)
      found.params.push_back({path, &param});
  }
  void walkPlain(Tensor &tensor) {
    if (tensor)
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
  template <typename T> void walkPlain(std::vector<T> &field) {
    walkElements(field);
  }
  void walkPlain(std::vector<bool> &) {}
  template <typename T, size_t n> void walkPlain(std::array<T, n> &field) {
    walkElements(field);
  }
  template <typename T> void walkPlain(std::map<std::string, T> &field) {
    for (auto &[name, element] : field)
      (*this)(name, element);
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

  Fields &found;
  std::string path;
};

/// The fields of the nearest base of `module` that is a module, if any.
template <typename T> void walkBase(T &module, FieldWalker &walker) {
  using Base = decltype(sinter_module_base(module, TypeTag<T>()));
  if constexpr (!std::is_void_v<Base>)
    static_cast<typename Base::Type &>(module).sinter_fields(walker);
}

/// The fields below a module or any other field type.
template <typename T> Fields fieldsOf(const T &module) {
  Fields found;
  FieldWalker(found).walk(const_cast<T &>(module));
  return found;
}

} // namespace detail
} // namespace sinter
