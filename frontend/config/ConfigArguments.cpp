/// Settings on the command line, by CLI11.
#include "frontend/Raise.h"
#include "frontend/config/ConfigText.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

// CLI11's header has constants that would be destroyed while the process ends,
// when another thread may still read arguments. In this file whatever asks for
// that asks this function, which does nothing.
extern "C" [[gnu::used, gnu::visibility("hidden")]] int
sinter_never_destroyed(void (*)(void *), void *, void *) {
  return 0;
}
asm(".set __cxa_atexit, sinter_never_destroyed");

namespace sinter::detail {

namespace {

[[noreturn]] void refuse(const std::string &what, const SourceLine &where) {
  raise(makeError(ErrorKind::invalid_argument, "config: " + what, "config"),
        where);
}

/// The parser of one command line.
class Parser {
public:
  Parser(const std::string &program, std::span<const ConfigOption> options,
         const SourceLine &where)
      : options(options), where(where), app("", program) {
    app.set_help_flag("--help", "Prints this and ends");
    app.allow_extras();
    app.get_formatter()->column_width(36);
    file = addText("--config", "FILE", "JSON to read fields from");
    for (const ConfigOption &option : options)
      made.push_back(add(option));
  }

  ConfigArguments parse(std::span<const std::string> arguments) {
    ConfigArguments result;
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
      app.parse(std::move(reversed));
    } catch (const CLI::CallForHelp &) {
      result.wantsHelp = true;
      result.help = app.help();
      return result;
    } catch (const CLI::ParseError &error) {
      refuse(error.what(), where);
    }
    checkRest();
    result.values = ConfigValue::ofObject();
    if (*file)
      result.file = textOf(*file, "--config");
    for (size_t i = 0; i < options.size(); ++i)
      if (*made[i])
        set(result.values, options[i].path,
            textOf(*made[i], "--" + options[i].path));
    return result;
  }

private:
  CLI::Option *addText(const std::string &name, const std::string &type,
                       const std::string &doc) {
    return app
        .add_option_function<std::string>(
            name, [](const std::string &) {}, doc)
        ->type_name(type)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  CLI::Option *add(const ConfigOption &option) try {
    std::string name = "--" + option.path;
    std::string doc =
        fmt::format("{}{}[{}]", option.doc, option.doc.empty() ? "" : " ",
                    option.required ? "required" : option.value);
    if (!option.isFlag)
      return addText(name, option.type, doc);
    // A text that is not const would be where the flag's value goes.
    return app.add_flag(name + ",!--no-" + option.path, std::as_const(doc));
  } catch (const CLI::Error &error) {
    refuse(fmt::format("the field '{}' can be no option: {}", option.path,
                       error.what()),
           where);
  }

  std::string textOf(const CLI::Option &option, const std::string &name) const {
    if (option.count() > 1)
      refuse(fmt::format("{} is given {} times", name, option.count()), where);
    return option.results().front();
  }

  /// What no option took.
  void checkRest() const {
    std::vector<std::string> rest = app.remaining();
    if (rest.empty())
      return;
    std::string word = rest.front().substr(0, rest.front().find('='));
    if (!word.starts_with("--"))
      refuse(fmt::format("the argument '{}' belongs to no option", word),
             where);
    std::vector<std::string_view> names = {"config", "help"};
    for (const ConfigOption &option : options)
      names.push_back(option.path);
    std::string nearest = nearestName(word.substr(2), names);
    refuse(nearest.empty()
               ? fmt::format("{}: there is no such option", word)
               : fmt::format("{}: there is no such option; did you mean --{}?",
                             word, nearest),
           where);
  }

  static void set(ConfigValue &root, const std::string &path,
                  const std::string &words) {
    ConfigValue *object = &root;
    size_t start = 0;
    for (size_t dot = path.find('.'); dot != path.npos;
         start = dot + 1, dot = path.find('.', start))
      object = &member(*object, path.substr(start, dot - start),
                       ConfigValue::Kind::object);
    ConfigValue &leaf =
        member(*object, path.substr(start), ConfigValue::Kind::words);
    leaf.text = words;
    leaf.option = "--" + path;
  }

  static ConfigValue &member(ConfigValue &object, const std::string &key,
                             ConfigValue::Kind kind) {
    auto found = std::ranges::find(object.keys, key);
    if (found != object.keys.end())
      return object.items[static_cast<size_t>(found - object.keys.begin())];
    object.add(key, ConfigValue::ofKind(kind));
    return object.items.back();
  }

  std::span<const ConfigOption> options;
  const SourceLine &where;
  CLI::App app;
  CLI::Option *file;
  std::vector<CLI::Option *> made;
};

} // namespace

ConfigArguments parseConfigArguments(std::span<const std::string> arguments,
                                     const std::string &program,
                                     std::span<const ConfigOption> options,
                                     std::source_location where) try {
  return Parser(program, options, where).parse(arguments);
} catch (...) {
  raiseExhausted(where);
}

void showConfigHelp(const ConfigArguments &arguments) {
  std::fputs(arguments.help.c_str(), stdout);
  std::exit(0);
}

std::vector<std::string> argumentsOf(int count, const char *const *values) {
  return {values + std::min(count, 1), values + count};
}

std::string programOf(int count, const char *const *values) {
  return count > 0 ? std::filesystem::path(values[0]).filename().string()
                   : std::string("program");
}

} // namespace sinter::detail
