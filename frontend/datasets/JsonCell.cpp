/// Cells of JSON text, and JSON text of cells.
#include "frontend/datasets/JsonCell.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace sinter::data {

namespace {

constexpr size_t mostNested = 64;

/// What nlohmann's parser calls: builds the value without a tree of its own.
class CellBuilder {
public:
  using Json = nlohmann::json;

  bool null() { return put(Cell()); }
  bool boolean(bool value) { return put(Cell(value)); }
  bool number_integer(int64_t value) { return put(Cell(value)); }
  bool number_unsigned(uint64_t value) {
    return put(value > uint64_t(INT64_MAX) ? Cell(double(value))
                                           : Cell(int64_t(value)));
  }
  bool number_float(double value, const std::string &) {
    return put(Cell(value));
  }
  bool string(std::string &value) { return put(Cell(std::move(value))); }
  bool binary(Json::binary_t &) { return false; }

  bool start_object(size_t) { return open(std::vector<Member>()); }
  bool start_array(size_t) { return open(std::vector<Cell>()); }
  bool key(std::string &name) {
    auto &members = std::get<std::vector<Member>>(levels.back().content);
    if (!levels.back().names.insert(name).second)
      return refuse(fmt::format("member '{}' is there twice", name));
    members.push_back({std::move(name), Cell()});
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(size_t byte, const std::string &,
                   const nlohmann::detail::exception &) {
    return refuse(fmt::format("byte {} is no JSON", byte));
  }

  std::string error;
  Cell result;

private:
  struct Level {
    std::variant<std::vector<Cell>, std::vector<Member>> content;
    std::unordered_set<std::string> names;
  };
  std::vector<Level> levels;

  bool refuse(std::string why) {
    error = std::move(why);
    return false;
  }

  bool put(Cell cell) {
    if (levels.empty())
      result = std::move(cell);
    else if (auto *list =
                 std::get_if<std::vector<Cell>>(&levels.back().content))
      list->push_back(std::move(cell));
    else
      std::get<std::vector<Member>>(levels.back().content).back().value =
          std::move(cell);
    return true;
  }

  template <typename T> bool open(T content) {
    if (levels.size() == mostNested)
      return refuse(
          fmt::format("values within more than {} others", mostNested));
    levels.push_back({std::move(content), {}});
    return true;
  }

  bool close() {
    Level level = std::move(levels.back());
    levels.pop_back();
    return std::visit(
        [&](auto &content) { return put(Cell(std::move(content))); },
        level.content);
  }
};

void appendText(const std::string &text, std::string &to) {
  to += nlohmann::json(text).dump();
}

/// What keeps the value from being written; empty where it was.
std::string append(const Cell &cell, std::string &to);

std::string appendList(const std::vector<Cell> &list, std::string &to) {
  to += '[';
  for (size_t i = 0; i < list.size(); ++i) {
    to += i == 0 ? "" : ",";
    if (std::string why = append(list[i], to); !why.empty())
      return why;
  }
  to += ']';
  return {};
}

std::string appendObject(const std::vector<Member> &members, std::string &to) {
  to += '{';
  for (size_t i = 0; i < members.size(); ++i) {
    to += i == 0 ? "" : ",";
    appendText(members[i].name, to);
    to += ':';
    if (std::string why = append(members[i].value, to); !why.empty())
      return why;
  }
  to += '}';
  return {};
}

std::string appendNumber(double number, std::string &to) {
  if (!std::isfinite(number))
    return fmt::format("{} is no number of JSON", number);
  std::string digits = fmt::format("{}", number);
  // It must not come back as a whole number.
  if (digits.find_first_of(".e") == digits.npos)
    digits += ".0";
  to += digits;
  return {};
}

std::string append(const Cell &cell, std::string &to) {
  switch (cell.kind()) {
  case CellKind::null:
    to += "null";
    return {};
  case CellKind::boolean:
    to += *cell.get_if<bool>() ? "true" : "false";
    return {};
  case CellKind::integer:
    to += fmt::format("{}", *cell.get_if<int64_t>());
    return {};
  case CellKind::number:
    return appendNumber(*cell.get_if<double>(), to);
  case CellKind::text:
    appendText(*cell.get_if<std::string>(), to);
    return {};
  case CellKind::bytes:
    return "bytes have no JSON";
  case CellKind::list:
    return appendList(*cell.get_if<std::vector<Cell>>(), to);
  case CellKind::object:
    return appendObject(*cell.get_if<std::vector<Member>>(), to);
  }
  return {};
}

} // namespace

Result<Cell> parseJson(std::string_view text) {
  CellBuilder builder;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    return makeError(ErrorKind::io, builder.error);
  return std::move(builder.result);
}

Result<std::string> writeJson(const Cell &cell) try {
  std::string text;
  if (std::string why = append(cell, text); !why.empty())
    return makeError(ErrorKind::unsupported, why);
  return text;
} catch (const nlohmann::json::exception &) {
  return makeError(ErrorKind::unsupported, "text that is not UTF-8");
}

} // namespace sinter::data
