/// Attrs: the attributes of a golden op, with defaults for absent ones.
#pragma once

#include "tests/goldens/Ops.h"
#include "tests/goldens/Suite.h"

#include <sinter/Basic.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::goldens {

/// The attributes of one op; whatever is asked for was looked at.
class Attrs {
public:
  explicit Attrs(const Json &object) : object(object) {}

  bool has(std::string_view key) const {
    const Json *value = object.find(key);
    return value && !value->is(runtime::json::Kind::null);
  }
  double number(std::string_view key, double otherwise = 0) const {
    return has(key) ? numberOf(*object.find(key)) : otherwise;
  }
  int64_t integer(std::string_view key, int64_t otherwise = 0) const {
    return static_cast<int64_t>(number(key, double(otherwise)));
  }
  bool flag(std::string_view key, bool otherwise = false) const {
    return has(key) ? object.find(key)->boolean : otherwise;
  }
  std::string text(std::string_view key) const {
    return has(key) ? object.find(key)->string : "";
  }
  /// A list, or one number as a list of one.
  std::vector<int64_t> list(std::string_view key) const {
    std::vector<int64_t> values;
    if (!has(key))
      return values;
    const Json &value = *object.find(key);
    if (!value.is(runtime::json::Kind::array))
      return {integer(key)};
    for (const Json &element : value.elements)
      values.push_back(static_cast<int64_t>(element.number));
    return values;
  }
  /// `{"dtype": "F64"}` or `"F64"`; nothing when there is none.
  std::optional<DType> dtype(std::string_view key) const {
    if (!has(key))
      return std::nullopt;
    const Json *value = object.find(key);
    if (const Json *inner = value->find("dtype"))
      value = inner;
    std::string name = value->string == "BOOL" ? "bool" : value->string;
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return std::tolower(c); });
    return parseDType(name);
  }
  /// The value itself, or null.
  const Json *find(std::string_view key) const { return object.find(key); }

private:
  /// JSON has no infinities: they are `{"float": "-inf"}`. A flag counts as 0
  /// or 1.
  static double numberOf(const Json &value) {
    if (const Json *text = value.find("float"))
      return std::stod(text->string);
    return value.is(runtime::json::Kind::boolean) ? value.boolean
                                                  : value.number;
  }

  const Json &object;
};

/// A case's inputs by name, and its attributes.
struct OpCall {
  const Values &inputs;
  Attrs attrs;

  const Tensor &operator[](std::string_view name) const {
    auto found = inputs.find(name);
    if (found == inputs.end())
      throw Error({ErrorKind::unsupported,
                   "no tensor " + std::string(name) + " is given",
                   "",
                   {},
                   0});
    return found->second;
  }
};

/// The values of a result that has one name, `y`, or the case's names in order.
inline Values one(Tensor y) { return {{"y", std::move(y)}}; }
inline Values several(const std::vector<Tensor> &tensors) {
  Values values;
  for (size_t i = 0; i < tensors.size(); ++i)
    values.emplace(std::to_string(i), tensors[i]);
  return values;
}

inline Dims dimsOf(const std::vector<int64_t> &values) {
  return Dims(values.begin(), values.end());
}

} // namespace sinter::goldens
