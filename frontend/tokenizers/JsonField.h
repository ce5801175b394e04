/// Field: a value of a JSON file, with the path that leads to it.
#pragma once

#include "frontend/tokenizers/Failure.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::text {

using Json = nlohmann::json;

/// Parses a text, which is UTF-8 and not deeper than is sensible; a Failure of
/// kind `io` says where it is wrong.
Json parseJson(std::string_view text);

/// Each of these throws a Failure that begins with the path, as in
/// `model.vocab: expected an object, not a string`.
class Field {
public:
  Field(const Json &value, std::string path)
      : value(&value), path(std::move(path)) {}

  /// A member, which has to be there.
  Field at(std::string_view name) const;
  /// A member; a null where there is none.
  Field get(std::string_view name) const;
  Field at(size_t index) const;
  bool isNull() const { return value->is_null(); }
  size_t size() const { return value->size(); }

  const std::string &string() const;
  bool boolean() const;
  int64_t integer(int64_t low, int64_t high) const;
  double number() const;
  const Json &array() const;
  const Json &object() const;
  /// One character.
  char32_t character() const;

  std::string stringOr(std::string_view name, std::string_view other) const;
  bool booleanOr(std::string_view name, bool other) const;
  /// One of `names`; gives its place.
  size_t choice(std::initializer_list<std::string_view> names) const;

  /// A Failure where the object has members that are none of `known` and say
  /// anything.
  void onlyHas(std::initializer_list<std::string_view> known) const;

  [[noreturn]] void wrong(const std::string &message) const;
  [[noreturn]] void unsupported(const std::string &message) const;
  /// Calls `make`; the path is put before a Failure's message.
  template <typename Function> auto named(Function make) const {
    try {
      return make();
    } catch (const Failure &failure) {
      fail(failure.error.kind, path + ": " + failure.error.message);
    }
  }

  const Json &json() const { return *value; }
  const std::string &name() const { return path; }

private:
  const Json *value;
  std::string path;

  [[noreturn]] void expected(const char *what) const;
};

} // namespace sinter::text
