/// Parsing of command line arguments.
#include "tools/sinter/Arguments.h"

#include "tools/sinter/Command.h"
#include "tools/sinter/ProgressLine.h"
#include "tools/sinter/help/Terminal.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace sinter::cli {

std::vector<Flag> allFlags(const Interface &interface) {
  std::vector<Flag> flags(interface.flags.begin(), interface.flags.end());
  flags.push_back({"--help", nullptr, "print this"});
  flags.push_back({"--quiet", nullptr, "show no progress on a terminal"});
  return flags;
}

static void printHelp(const Interface &interface) {
  std::printf("usage: sinter %s\n\n%s\n\n", interface.usage,
              interface.description);
  for (const Flag &flag : allFlags(interface)) {
    std::string name = flag.name;
    if (flag.value)
      name += std::string(" ") + flag.value;
    std::printf("  %-24s %s\n", name.c_str(), flag.help);
  }
  std::printf("\nExamples:\n");
  std::istringstream examples(interface.examples);
  for (std::string line; std::getline(examples, line);)
    std::printf("  %s\n", line.c_str());
}

Arguments::Arguments(int argc, char **argv, const Interface &interface) {
  parse(argc, argv, interface);
}

static std::vector<std::string_view> flagNames(const Interface &interface) {
  std::vector<std::string_view> names;
  for (const Flag &flag : allFlags(interface))
    names.emplace_back(flag.name);
  return names;
}

void Arguments::parse(int argc, char **argv, const Interface &interface) {
  for (int index = 1; index < argc && !exit; ++index) {
    std::string word = argv[index];
    if (word == "--help" || word == "-h") {
      printHelp(interface);
      exit = exitOk;
      return;
    }
    if (word.size() < 2 || word[0] != '-') {
      words.push_back(word);
      continue;
    }
    if (word == "--quiet") {
      ProgressLine::hide();
      continue;
    }
    std::string name = word.substr(0, word.find('='));
    auto flag = std::ranges::find_if(
        interface.flags, [&](const Flag &each) { return name == each.name; });
    if (flag == interface.flags.end())
      return fail("unknown flag '" + name + "'" +
                  meantText(name, flagNames(interface)));
    bool joined = name.size() < word.size();
    if (!flag->value) {
      if (joined)
        return fail("'" + name + "' takes no value");
      values[name].push_back("");
      continue;
    }
    if (!joined && index + 1 == argc)
      return fail("'" + name + "' needs a value: " + flag->value);
    values[name].push_back(joined ? word.substr(name.size() + 1)
                                  : argv[++index]);
  }
  if (words.size() < interface.minPositional)
    return fail(std::string("too few arguments; usage: sinter ") +
                interface.usage);
  if (words.size() > interface.maxPositional)
    return fail("unexpected argument '" + words[interface.maxPositional] + "'");
}

void Arguments::fail(const std::string &message) {
  std::fprintf(stderr, "%s%s\n", errorPrefix(), message.c_str());
  exit = exitUsage;
}

bool Arguments::has(std::string_view flag) const {
  return values.find(flag) != values.end();
}

std::string Arguments::get(std::string_view flag,
                           std::string_view fallback) const {
  auto found = values.find(flag);
  return std::string(found == values.end()
                         ? fallback
                         : std::string_view(found->second.back()));
}

std::vector<std::string> Arguments::all(std::string_view flag) const {
  auto found = values.find(flag);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

Arguments Arguments::only(std::initializer_list<std::string_view> flags) const {
  Arguments chosen;
  for (std::string_view flag : flags)
    if (auto found = values.find(flag); found != values.end())
      chosen.values.insert(*found);
  return chosen;
}

void Arguments::setDefault(std::string_view flag, std::string_view value) {
  if (!has(flag))
    values[std::string(flag)].emplace_back(value);
}

int64_t Arguments::number(std::string_view flag, int64_t fallback) {
  if (!has(flag))
    return fallback;
  std::string text = get(flag);
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail(std::string(flag) + " needs a whole number, got '" + text + "'");
  return value;
}

double Arguments::seconds(std::string_view flag, double fallback) {
  if (!has(flag))
    return fallback;
  std::string text = get(flag);
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value >= 0) || value > 3600)
    fail(std::string(flag) + " needs a number of seconds, got '" + text + "'");
  return value;
}

} // namespace sinter::cli
