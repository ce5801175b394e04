/// Makes identifiers.
#include "frontend/export/cpp/Names.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace sinter::cpp {

/// Words of C++, macros of its library, and members that a module has.
static bool isReserved(std::string_view name) {
  static const auto &words = *new std::set<std::string_view>{
      "alignas",      "alignof",      "and",
      "and_eq",       "asm",          "assert",
      "auto",         "bitand",       "bitor",
      "bool",         "break",        "case",
      "catch",        "char",         "class",
      "co_await",     "co_return",    "co_yield",
      "compl",        "concept",      "const",
      "const_cast",   "consteval",    "constexpr",
      "constinit",    "continue",     "decltype",
      "default",      "delete",       "do",
      "double",       "dynamic_cast", "else",
      "enum",         "errno",        "explicit",
      "export",       "extern",       "false",
      "float",        "for",          "friend",
      "goto",         "if",           "inline",
      "int",          "linux",        "long",
      "mutable",      "namespace",    "new",
      "noexcept",     "not",          "not_eq",
      "nullptr",      "operator",     "or",
      "or_eq",        "private",      "protected",
      "public",       "register",     "reinterpret_cast",
      "requires",     "return",       "short",
      "signed",       "sizeof",       "static",
      "static_cast",  "stderr",       "stdin",
      "stdout",       "struct",       "switch",
      "template",     "this",         "throw",
      "true",         "try",          "typedef",
      "typeid",       "typename",     "union",
      "unix",         "unsigned",     "using",
      "virtual",      "void",         "volatile",
      "while",        "xor",          "xor_eq",
      "sn",           "std",          "sinter",
      "forward",      "visit",        "map",
      "save",         "load",         "to",
      "fork",         "cast",         "num_params",
      "train",        "eval",         "valid",
      "main",         "require_grad", "flat_gradients",
      "gradients_of", "char8_t",      "char16_t",
      "char32_t",     "wchar_t",      "static_assert",
      "thread_local"};
  return words.contains(name) || name.starts_with("sinter_") ||
         name.starts_with("apply_");
}

/// Letters and digits; all else is one underscore between them.
static std::string lettersOf(std::string_view wanted) {
  std::string text;
  bool isApart = false;
  for (char each : wanted) {
    auto letter = static_cast<unsigned char>(each);
    if (letter >= 128 || !std::isalnum(letter)) {
      isApart = true;
      continue;
    }
    if (isApart && !text.empty())
      text += '_';
    isApart = false;
    text += each;
  }
  return text;
}

std::string Names::unique(std::string_view wanted, std::string_view otherwise) {
  constexpr size_t longest = 60;
  std::string name = lettersOf(wanted).substr(0, longest);
  for (char &letter : name)
    letter = char(std::tolower(static_cast<unsigned char>(letter)));
  while (name.ends_with('_'))
    name.pop_back();
  bool hasLetter = name.find_first_not_of("0123456789_") != name.npos;
  if (!hasLetter)
    name = name.empty() ? std::string(otherwise)
                        : fmt::format("{}_{}", otherwise, name);
  else if (std::isdigit(static_cast<unsigned char>(name.front())))
    name = fmt::format("{}_{}", otherwise, name);
  if (isReserved(name))
    name += '_';
  std::string unique = name;
  for (int again = 2; !taken.insert(unique).second; ++again)
    unique = fmt::format("{}{}{}", name, name.ends_with('_') ? "" : "_", again);
  return unique;
}

std::string className(std::string_view wanted) {
  std::string name;
  bool isFirst = true;
  for (char letter : lettersOf(wanted)) {
    if (letter != '_')
      name += isFirst ? char(std::toupper(static_cast<unsigned char>(letter)))
                      : letter;
    isFirst = letter == '_';
  }
  bool isName =
      !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front()));
  if (!isName)
    return "Model" + name;
  bool isTaken =
      name == "Outputs" || std::ranges::none_of(name, [](unsigned char letter) {
        return std::islower(letter);
      });
  return isTaken ? name + "Model" : name;
}

} // namespace sinter::cpp
