/// ConfigReader: takes values out of config.json, and knows which were taken.
#pragma once

#include "runtime/params/Json.h"

#include <sinter/Arg.h>
#include <sinter/hf/Activation.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::hf {

/// Sizes beyond these are none of a model, and products of them fit 64 bits.
constexpr int64_t mostElements = int64_t(1) << 24; ///< of a row
constexpr int64_t mostRows = (int64_t(1) << 31) - 1;
constexpr int64_t mostLayers = int64_t(1) << 16;
constexpr int64_t mostHeads = int64_t(1) << 16;

/// The members of one JSON object. A value that cannot be is an Error of kind
/// `io`, one that is not supported of kind `unsupported`; both name the file,
/// the key and the value. A key that is missing, or null, has the default of
/// transformers.
class ConfigReader {
public:
  /// `inside` stands before keys in errors: `rope_parameters.`. All must live
  /// as long as this does.
  ConfigReader(const runtime::json::Value &object, std::string file,
               const SourceLine &where, std::string inside = {});

  /// Whether the key is there, and not null.
  bool has(std::string_view key) const;
  /// Whether the key is there, and null.
  bool isNull(std::string_view key) const;
  /// In [1, most].
  int64_t size(std::string_view key, int64_t fallback, int64_t most);
  std::optional<int64_t> size(std::string_view key, int64_t most);
  /// In [0, most].
  std::optional<int64_t> count(std::string_view key, int64_t most);
  /// In [least, most].
  double number(std::string_view key, double fallback, double least,
                double most);
  std::optional<double> number(std::string_view key, double least, double most);
  /// In [0, 1).
  double probability(std::string_view key, double fallback) {
    return number(key, fallback, 0, 0.999999);
  }
  bool flag(std::string_view key, bool fallback);
  std::string text(std::string_view key, std::string_view fallback);
  Activation activation(std::string_view key, Activation fallback);
  /// The strings of a list; none where there is no list.
  std::vector<std::string> texts(std::string_view key);
  /// One size, or a list of two: height and width.
  std::pair<int64_t, int64_t> area(std::string_view key, int64_t fallback,
                                   int64_t most);
  /// How many members an object has.
  std::optional<int64_t> members(std::string_view key);
  /// An object; null where there is none.
  const runtime::json::Value *object(std::string_view key);

  /// An `unsupported` Error unless the key is missing, or has this value.
  void expectText(std::string_view key, std::string_view value);
  void expectFlag(std::string_view key, bool value);
  /// Keys that change nothing that is computed here.
  void ignore(std::initializer_list<std::string_view> keys);
  /// An `unsupported` Error where a key was neither taken nor ignored, is not
  /// one of `permitted`, and says more than null, false, 0 or nothing.
  /// Otherwise the keys without effect, in order.
  std::vector<std::string> finish(std::span<const std::string> permitted = {});

  const std::string &file() const { return path; }
  const SourceLine &line() const { return where; }
  /// Errors of a key's value: ` is 5, not 1 to 3`.
  [[noreturn]] void refuse(std::string_view key, const std::string &why) const;
  [[noreturn]] void lack(std::string_view key, const std::string &why) const;

private:
  /// The value, which counts as taken, unless it is missing or null.
  const runtime::json::Value *take(std::string_view key);
  int64_t integer(std::string_view key, const runtime::json::Value &value,
                  int64_t least, int64_t most) const;

  const runtime::json::Value &value;
  std::string path, inside;
  SourceLine where;
  std::set<std::string, std::less<>> taken;
  std::vector<std::string> unread;
};

/// A JSON value in a few words.
std::string describe(const runtime::json::Value &value);

} // namespace sinter::hf
