/// Expressions of sizes.
#include "frontend/import/torch/Expressions.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

namespace sinter::torch {

using Symbols = std::map<std::string, int64_t, std::less<>>;

static bool startsWord(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
static bool continuesWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

namespace {

using Number = std::optional<int64_t>;

/// By recursive descent. Anything that it does not know makes the whole empty.
class Evaluator {
public:
  Evaluator(std::string_view text, const Symbols &symbols)
      : text(text), symbols(symbols) {}

  Number whole() {
    Number value = sum();
    return at == text.size() ? value : std::nullopt;
  }

private:
  bool take(std::string_view word) {
    skipBlanks();
    if (!text.substr(at).starts_with(word))
      return false;
    at += word.size();
    skipBlanks();
    return true;
  }
  void skipBlanks() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }

  Number sum() {
    Number value = product();
    while (value) {
      bool isPlus = take("+");
      if (!isPlus && !take("-"))
        return value;
      Number other = product();
      int64_t result = 0;
      if (!other || (isPlus ? __builtin_add_overflow(*value, *other, &result)
                            : __builtin_sub_overflow(*value, *other, &result)))
        return std::nullopt;
      value = result;
    }
    return value;
  }

  Number product() {
    Number value = factor();
    while (value) {
      if (take("//"))
        value = floorDivided(value, factor());
      else if (take("%"))
        value = remainder(value, factor());
      else if (take("*"))
        value = multiplied(value, factor());
      else
        return value;
    }
    return value;
  }

  Number factor() {
    bool isNegative = false;
    while (take("-"))
      isNegative = !isNegative;
    Number value = power();
    return isNegative ? multiplied(value, -1) : value;
  }

  Number power() {
    Number value = primary();
    if (!take("**"))
      return value;
    Number power = primary();
    if (!power || *power < 0 || *power > 63)
      return std::nullopt;
    Number result = 1;
    for (int64_t i = 0; i < *power; ++i)
      result = multiplied(result, value);
    return result;
  }

  Number primary() {
    skipBlanks();
    if (++depth > mostDepth || at == text.size())
      return std::nullopt;
    Number value;
    if (take("(")) {
      value = sum();
      value = take(")") ? value : std::nullopt;
    } else if (startsWord(text[at])) {
      value = wordOrCall();
    } else {
      int64_t number = 0;
      auto [end, error] =
          std::from_chars(text.data() + at, text.data() + text.size(), number);
      if (error == std::errc()) {
        at = size_t(end - text.data());
        value = number;
      }
    }
    --depth;
    return value;
  }

  Number wordOrCall() {
    size_t begin = at;
    while (at < text.size() && continuesWord(text[at]))
      ++at;
    std::string_view word = text.substr(begin, at - begin);
    if (!take("(")) {
      auto found = symbols.find(word);
      return found == symbols.end() ? std::nullopt : Number(found->second);
    }
    Number value = sum();
    bool hasTwo = false;
    for (; value && take(","); hasTwo = true)
      value = called(word, value, sum());
    return hasTwo && take(")") ? value : std::nullopt;
  }

  static Number called(std::string_view word, Number a, Number b) {
    if (!a || !b)
      return std::nullopt;
    if (word == "Max")
      return std::max(*a, *b);
    if (word == "Min")
      return std::min(*a, *b);
    if (word.ends_with("FloorDiv"))
      return floorDivided(a, b);
    if (word.ends_with("CeilDiv") && *b > 0 && *a > INT64_MIN)
      return multiplied(floorDivided(-*a, b), -1);
    if (word.ends_with("Mod"))
      return remainder(a, b);
    return std::nullopt;
  }

  static Number multiplied(Number a, Number b) {
    int64_t result = 0;
    if (!a || !b || __builtin_mul_overflow(*a, *b, &result))
      return std::nullopt;
    return result;
  }
  static Number floorDivided(Number a, Number b) {
    if (!a || !b || *b <= 0)
      return std::nullopt;
    return *a / *b - (*a % *b < 0);
  }
  static Number remainder(Number a, Number b) {
    if (!a || !b || *b <= 0)
      return std::nullopt;
    int64_t rest = *a % *b;
    return rest < 0 ? rest + *b : rest;
  }

  static constexpr int mostDepth = 64;
  std::string_view text;
  const Symbols &symbols;
  size_t at = 0;
  int depth = 0;
};

} // namespace

//===- SymPy's own form ---------------------------------------------------===//

namespace {

/// Turns calls of SymPy's constructors into infix text.
class Rewriter {
public:
  explicit Rewriter(std::string_view text) : text(text) {}

  /// Empty where it is something else.
  std::string whole() {
    std::string result = expression();
    return at == text.size() && !hasFailed ? result : "";
  }

private:
  bool take(char c) {
    while (at < text.size() && text[at] == ' ')
      ++at;
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  std::string fail() {
    hasFailed = true;
    return "";
  }
  std::string word() {
    while (at < text.size() && text[at] == ' ')
      ++at;
    size_t begin = at;
    while (at < text.size() && continuesWord(text[at]))
      ++at;
    return std::string(text.substr(begin, at - begin));
  }

  std::string expression() {
    constexpr int mostDepth = 64;
    if (++depth > mostDepth)
      return fail();
    std::string name = word(), result;
    if (name.empty() || !take('('))
      return fail();
    if (name == "Symbol")
      result = symbol();
    else if (name == "Integer")
      result = integer();
    else
      result = call(name);
    --depth;
    return take(')') ? result : fail();
  }

  /// Its name; what is known about it does not matter here.
  std::string symbol() {
    if (!take('\''))
      return fail();
    std::string name = word();
    if (!take('\''))
      return fail();
    at = std::min(text.find(')', at), text.size());
    return name;
  }

  std::string integer() {
    std::string sign = take('-') ? "-" : "";
    return sign + word();
  }

  std::string call(const std::string &name) {
    std::string sign = name == "Add"   ? " + "
                       : name == "Mul" ? "*"
                       : name == "Pow" ? "**"
                                       : "";
    std::string result;
    bool isFirst = true;
    do {
      std::string operand = expression();
      bool isSum = operand.find(" + ") != operand.npos && name != "Add";
      if (isSum && !sign.empty())
        operand = "(" + operand + ")";
      result += (isFirst ? "" : sign.empty() ? ", " : sign) + operand;
      isFirst = false;
    } while (take(',') && !hasFailed);
    return sign.empty() ? name + "(" + result + ")" : result;
  }

  std::string_view text;
  size_t at = 0;
  int depth = 0;
  bool hasFailed = false;
};

} // namespace

std::string readable(const std::string &expression) {
  std::string rewritten = Rewriter(expression).whole();
  return rewritten.empty() ? expression : rewritten;
}

Number evaluate(std::string_view expression, const Symbols &symbols) {
  return Evaluator(expression, symbols).whole();
}

bool isSymbol(std::string_view expression) {
  return !expression.empty() && startsWord(expression[0]) &&
         std::ranges::all_of(expression, continuesWord);
}

std::vector<std::string> symbolsOf(std::string_view expression) {
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (size_t at = 0; at < expression.size();) {
    if (!startsWord(expression[at])) {
      ++at;
      continue;
    }
    size_t begin = at;
    while (at < expression.size() && continuesWord(expression[at]))
      ++at;
    std::string word(expression.substr(begin, at - begin));
    bool isCall = at < expression.size() && expression[at] == '(';
    if (!isCall && seen.insert(word).second)
      found.push_back(word);
  }
  return found;
}

} // namespace sinter::torch
