/// A scan over brackets, affine expressions and aliases.
#include "compiler/import/CheckNesting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <optional>

using namespace llvm;

namespace sinter::compiler {

namespace {

/// Brackets in brackets, those of aliases included.
constexpr unsigned maxDepth = 256;
/// Operators of one affine expression.
constexpr unsigned maxOperators = 2048;
/// Parts of what an alias stands for, and of all a text.
constexpr uint64_t maxParts = 100'000;
constexpr uint64_t maxPartsPerByte = 64;

/// What an alias stands for, written out.
struct Extent {
  unsigned depth = 0;
  uint64_t parts = 0;
};

class NestingScanner {
public:
  explicit NestingScanner(StringRef text) : all(text), text(text) {}

  Status run();

private:
  char next(size_t ahead = 0) const {
    return ahead < text.size() ? text[ahead] : '\0';
  }
  void drop(size_t count) {
    text = text.drop_front(std::min(count, text.size()));
  }
  ErrorInfo tooMuch(const Twine &what) const;
  void skipString();
  Status open();
  void close();
  Status readWord();
  Status readAlias();
  Status readSign();
  Status countOperator();
  Status count(Extent extent);
  void endAliasAtLine();
  unsigned depth() const { return angles + brackets; }

  StringRef all, text; ///< what is left of all
  unsigned angles = 0, brackets = 0;
  unsigned signs = 0;             ///< in a row
  std::optional<unsigned> inMap;  ///< the angles around an affine map
  unsigned operators = 0;         ///< of an expression of that map
  char last = '\0';               ///< before this place, blanks aside
  std::optional<StringRef> alias; ///< that is being defined
  Extent own;                     ///< of that alias
  uint64_t total = 0;
  StringMap<Extent> aliases;
};

} // namespace

ErrorInfo NestingScanner::tooMuch(const Twine &what) const {
  size_t line = all.drop_back(text.size()).count('\n') + 1;
  return makeError(ErrorKind::invalid_argument,
                   formatv("import: {0} (line {1})", what.str(), line).str());
}

Status NestingScanner::count(Extent extent) {
  own.depth = std::max(own.depth, depth() + extent.depth);
  own.parts += extent.parts;
  total += extent.parts;
  if (depth() + extent.depth > maxDepth)
    return tooMuch("brackets in more than " + Twine(maxDepth) + " others");
  if ((alias && own.parts > maxParts) ||
      total > maxPartsPerByte * all.size() + maxParts)
    return tooMuch("aliases of aliases stand for more than is read");
  return {};
}

void NestingScanner::skipString() {
  size_t at = 1;
  while (at < text.size() && text[at] != '"' && text[at] != '\n')
    at += text[at] == '\\' ? 2 : 1;
  drop(at + 1);
}

Status NestingScanner::open() {
  // In a set of integers it is a comparison.
  if (next() == '<' && next(1) == '=')
    return {};
  ++(next() == '<' ? angles : brackets);
  return count({0, 1});
}

void NestingScanner::close() {
  bool isComparison = next() == '>' && (next(1) == '=' || last == '-');
  unsigned &level = next() == '>' ? angles : brackets;
  if (isComparison || level == 0)
    return;
  --level;
  if (inMap && angles <= *inMap)
    inMap.reset();
}

Status NestingScanner::countOperator() {
  if (inMap && ++operators > maxOperators)
    return tooMuch("more than " + Twine(maxOperators) +
                   " operators in an affine expression");
  return {};
}

static bool isWordCharacter(char c) {
  return isAlnum(c) || c == '_' || c == '$' || c == '.';
}

Status NestingScanner::readWord() {
  StringRef word = text.take_while(isWordCharacter);
  drop(word.size());
  if (word == "mod" || word == "floordiv" || word == "ceildiv")
    return countOperator();
  if (!inMap && (word == "affine_map" || word == "affine_set")) {
    inMap = angles;
    operators = 0;
  }
  return {};
}

/// `#name` or `!name`: a definition, or what it stands for.
Status NestingScanner::readAlias() {
  StringRef name =
      text.take_front(1 + text.drop_front().take_while(isWordCharacter).size());
  StringRef after = text.drop_front(name.size()).ltrim();
  drop(name.size());
  if (depth() == 0 && after.starts_with("=") && !after.starts_with("==")) {
    if (alias)
      aliases[*alias] = own;
    alias = name;
    own = {};
    return {};
  }
  auto known = aliases.find(name);
  return known == aliases.end() ? Status() : count(known->second);
}

/// The parser calls itself for each of many signs in a row, too.
Status NestingScanner::readSign() {
  signs = last == '-' ? signs + 1 : 1;
  if (signs > maxDepth)
    return tooMuch("more than " + Twine(maxDepth) + " signs in a row");
  return countOperator();
}

/// A definition ends with its line, unless it goes on in the next one.
void NestingScanner::endAliasAtLine() {
  StringRef after = text.ltrim();
  bool goesOn = depth() > 0 || StringRef("=:-,").contains(last) ||
                (!after.empty() && StringRef("([{<:-,").contains(after[0]));
  if (!alias || goesOn)
    return;
  aliases[*alias] = own;
  alias.reset();
}

Status NestingScanner::run() {
  while (!text.empty()) {
    char c = next();
    if (isSpace(c)) {
      if (c == '\n')
        endAliasAtLine();
      drop(1);
      continue;
    }
    if (c == '/' && next(1) == '/') {
      drop(std::min(text.find('\n'), text.size()));
      continue;
    }
    if (isAlpha(c) || c == '_') {
      SINTER_TRY(readWord());
    } else if ((c == '#' || c == '!') && (isAlpha(next(1)) || next(1) == '_')) {
      SINTER_TRY(readAlias());
    } else if (c == '"') {
      skipString();
    } else {
      if (StringRef("([{<").contains(c))
        SINTER_TRY(open());
      else if (StringRef(")]}>").contains(c))
        close();
      else if (c == '-')
        SINTER_TRY(readSign());
      else if (c == '+' || c == '*')
        SINTER_TRY(countOperator());
      else if (c == ',')
        operators = 0; // the map's next expression
      drop(1);
    }
    last = c;
  }
  return {};
}

Status checkNesting(std::string_view text) {
  return NestingScanner(text).run();
}

} // namespace sinter::compiler
