/// The configs in the front of README.md: a small part of YAML.
#include "frontend/datasets/HubLayout.h"

#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace sinter::data {

namespace {

struct Line {
  size_t indent;
  std::string_view text; ///< without blanks around it
  int64_t number;
};

constexpr size_t none = std::string_view::npos;

std::string_view trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == none)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Where a comment begins, or the end.
size_t endOfValue(std::string_view text) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quote)
      quote = text[i] == quote ? 0 : quote;
    else if ((text[i] == '"' || text[i] == '\'') &&
             (i == 0 || text[i - 1] == ' ' || text[i - 1] == '[' ||
              text[i - 1] == ','))
      quote = text[i];
    else if (text[i] == '#' && (i == 0 || text[i - 1] == ' '))
      return i;
  }
  return text.size();
}

/// Where the colon behind a key is; `none` where there is no key.
size_t endOfKey(std::string_view text) {
  if (text.empty() || text[0] == '[')
    return none;
  size_t from = 0;
  if (text[0] == '"' || text[0] == '\'')
    from = text.find(text[0], 1);
  if (from == none)
    return none;
  for (size_t at = text.find(':', from); at != none;
       at = text.find(':', at + 1))
    if (at + 1 == text.size() || text[at + 1] == ' ')
      return at;
  return none;
}

class Parser {
public:
  explicit Parser(std::vector<Line> lines) : lines(std::move(lines)) {}

  Result<Cell> parse() {
    SINTER_TRY_ASSIGN(Cell value, node(0));
    if (at < lines.size())
      return unsupported(lines[at], "a line of another indent");
    return value;
  }

private:
  std::vector<Line> lines;
  size_t at = 0;
  size_t depth = 0;

  static ErrorInfo unsupported(const Line &line, const char *what) {
    return makeError(ErrorKind::unsupported,
                     fmt::format("README.md:{}: {} is not read: {}",
                                 line.number, what, printableName(line.text)));
  }

  static bool isItem(std::string_view text) {
    return text == "-" || text.starts_with("- ");
  }

  Result<Cell> node(size_t indent) {
    constexpr size_t deepest = 16;
    if (depth == deepest)
      return unsupported(lines[at], "more than 16 levels");
    ++depth;
    size_t own = lines[at].indent;
    if (own < indent)
      return unsupported(lines[at], "a line of another indent");
    bool isList = isItem(lines[at].text);
    bool isMap = !isList && endOfKey(lines[at].text) != none;
    Result<Cell> value = isList  ? list(own)
                         : isMap ? map(own)
                                 : scalar(lines[at], lines[at].text);
    if (!isList && !isMap)
      ++at;
    --depth;
    return value;
  }

  Result<Cell> list(size_t indent) {
    std::vector<Cell> items;
    while (at < lines.size() && lines[at].indent == indent &&
           isItem(lines[at].text)) {
      // What follows the dash stands as if it began a line.
      std::string_view rest = lines[at].text.substr(1);
      size_t blanks = rest.find_first_not_of(' ');
      if (blanks == none) {
        ++at;
        if (at >= lines.size() || lines[at].indent <= indent) {
          items.emplace_back();
          continue;
        }
      } else {
        lines[at].indent += 1 + blanks;
        lines[at].text = rest.substr(blanks);
      }
      SINTER_TRY_ASSIGN(Cell item, node(indent + 1));
      items.push_back(std::move(item));
    }
    return Cell(std::move(items));
  }

  Result<Cell> map(size_t indent) {
    std::vector<Member> members;
    while (at < lines.size() && lines[at].indent == indent &&
           !isItem(lines[at].text)) {
      Line line = lines[at];
      size_t colon = endOfKey(line.text);
      if (colon == none)
        return unsupported(line, "a line without a key");
      SINTER_TRY_ASSIGN(Cell key, scalar(line, line.text.substr(0, colon)));
      std::string_view rest = trimmed(line.text.substr(colon + 1));
      ++at;
      Cell value;
      if (!rest.empty()) {
        SINTER_TRY_ASSIGN(value, scalar(line, rest));
      } else if (at < lines.size() &&
                 (lines[at].indent > indent ||
                  (lines[at].indent == indent && isItem(lines[at].text)))) {
        SINTER_TRY_ASSIGN(value, node(indent));
      }
      members.push_back({*key.get_if<std::string>(), std::move(value)});
    }
    return Cell(std::move(members));
  }

  Result<Cell> scalar(const Line &line, std::string_view text) {
    text = trimmed(text);
    if (text.starts_with('['))
      return inlineList(line, text);
    if (text.starts_with('"') || text.starts_with('\'')) {
      bool closed = text.size() >= 2 && text.back() == text.front();
      std::string_view inside =
          closed ? text.substr(1, text.size() - 2) : std::string_view();
      if (!closed || inside.find(text.front()) != none ||
          (text.front() == '"' && inside.find('\\') != none))
        return unsupported(line, "such a quoted text");
      return Cell(std::string(inside));
    }
    constexpr std::string_view special = "&*|>{}!%@`";
    if (!text.empty() && special.find(text[0]) != none &&
        !text.starts_with("**") && !text.starts_with("*."))
      return unsupported(line, "such a value");
    return Cell(std::string(text));
  }

  Result<Cell> inlineList(const Line &line, std::string_view text) {
    if (!text.ends_with(']') || text.find_first_of("[{", 1) != none)
      return unsupported(line, "such a list");
    std::vector<Cell> items;
    text = text.substr(1, text.size() - 2);
    while (!trimmed(text).empty()) {
      size_t comma = text.find(',');
      SINTER_TRY_ASSIGN(Cell item, scalar(line, text.substr(0, comma)));
      items.push_back(std::move(item));
      text.remove_prefix(comma == none ? text.size() : comma + 1);
    }
    return Cell(std::move(items));
  }
};

/// The lines of `configs`, without empty ones and comments.
std::vector<Line> linesOfConfigs(std::string_view readme) {
  std::vector<Line> lines;
  bool inside = false;
  for (int64_t number = 1; !readme.empty(); ++number) {
    size_t end = readme.find('\n');
    std::string_view raw = readme.substr(0, end);
    readme.remove_prefix(end == none ? readme.size() : end + 1);
    std::string_view text = trimmed(raw);
    if (number == 1 ? text != "---" : text == "---")
      break;
    std::string_view value = trimmed(text.substr(0, endOfValue(text)));
    if (number == 1 || value.empty())
      continue;
    size_t indent = raw.find_first_not_of(' ');
    bool startsKey = indent == 0 && !value.starts_with("-");
    if (startsKey)
      inside = value.starts_with("configs:");
    if (inside)
      lines.push_back({indent, value, number});
  }
  return lines;
}

} // namespace

Result<Cell> readHubConfigs(std::string_view readme) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (readme.starts_with(mark))
    readme.remove_prefix(mark.size());
  std::vector<Line> lines = linesOfConfigs(readme);
  if (lines.empty())
    return Cell();
  SINTER_TRY_ASSIGN(Cell top, Parser(std::move(lines)).parse());
  const Cell *configs = top.find("configs");
  return configs ? *configs : Cell();
}

} // namespace sinter::data
