/// Alters the JSON of programs.
#include "tests/unit/torch/ProgramMutator.h"

#include <array>
#include <cctype>
#include <random>
#include <vector>

namespace sinter::torch_test {

namespace {
/// A string with its quotes, a number or a word of a text.
struct Token {
  size_t begin = 0, end = 0;
  bool isText = false;
  bool isKey = false;
};

class Mutator {
public:
  Mutator(std::string_view text, uint64_t seed) : text(text), random(seed) {}
  std::string run();

private:
  std::vector<Token> tokens() const;
  size_t below(size_t count) { return size_t(random() % count); }
  std::string numberFor(const std::string &old);
  void alter(const std::vector<Token> &all);

  std::string text;
  std::mt19937_64 random;
};
} // namespace

std::vector<Token> Mutator::tokens() const {
  std::vector<Token> all;
  for (size_t at = 0; at < text.size();) {
    Token token{at, at, text[at] == '"', false};
    if (token.isText) {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        at += text[at] == '\\';
      at = std::min(at + 1, text.size());
    } else {
      while (at < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[at])) ||
              text[at] == '-' || text[at] == '.'))
        ++at;
    }
    token.end = at;
    if (token.end == token.begin) {
      ++at;
      continue;
    }
    token.isKey = token.isText && at < text.size() && text[at] == ':';
    all.push_back(token);
  }
  return all;
}

std::string Mutator::numberFor(const std::string &old) {
  static constexpr std::array odd{
      "0",   "-1", "1",          "2",           "-2",
      "3",   "7",  "63",         "64",          "-9223372036854775808",
      "1e9", "65", "2147483648", "4294967297",  "9223372036854775807",
      "0.5", "-0", "1.5e308",    "-2147483649", "1000000"};
  if (below(3) != 0)
    return odd[below(odd.size())];
  return old + std::to_string(below(10));
}

/// Keys become other keys, names other names: an argument of another kind, a
/// value from elsewhere.
void Mutator::alter(const std::vector<Token> &all) {
  const Token &token = all[below(all.size())];
  std::string old = text.substr(token.begin, token.end - token.begin);
  std::string altered = old;
  if (token.isText) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const Token &other = all[below(all.size())];
      if (other.isText && other.isKey == token.isKey) {
        altered = text.substr(other.begin, other.end - other.begin);
        break;
      }
    }
  } else if (old == "true" || old == "false" || old == "null") {
    static constexpr std::array words{"true", "false", "null", "0"};
    altered = words[below(words.size())];
  } else {
    altered = numberFor(old);
  }
  text.replace(token.begin, token.end - token.begin, altered);
}

std::string Mutator::run() {
  for (size_t count = 1 + below(4); count > 0; --count) {
    std::vector<Token> all = tokens();
    if (all.empty())
      break;
    alter(all);
  }
  return std::move(text);
}

std::string mutateProgram(std::string_view text, uint64_t seed) {
  return Mutator(text, seed).run();
}

} // namespace sinter::torch_test
