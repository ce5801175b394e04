/// `sinter completion`: scripts by which shells complete commands, flags and
/// their values.
#include "tools/sinter/Arguments.h"
#include "tools/sinter/Command.h"

#include "sinter/runtime/Result.h"

#include <fmt/core.h>

namespace sinter::cli {

const Interface completionInterface = {
    "completion {bash,zsh,fish}",
    "Prints a script by which the shell completes commands, flags and their\n"
    "values. Installed packages have these scripts where shells look for "
    "them.",
    "source <(sinter completion bash)\n"
    "sinter completion zsh > ~/.zfunc/_sinter\n"
    "sinter completion fish > ~/.config/fish/completions/sinter.fish",
    {},
    1,
    1,
    "bash zsh fish",
};

namespace {
std::string commandNames() {
  std::string names;
  for (const Command &command : commands())
    names += std::string(names.empty() ? "" : " ") + command.name;
  return names;
}

//===- bash ---------------------------------------------------------------===//

std::string bashOf(const Command &command) {
  std::string flags, values;
  for (const Flag &flag : allFlags(*command.interface)) {
    flags += std::string(flags.empty() ? "" : " ") + flag.name;
    if (flag.value)
      values += fmt::format("    {}) words='{}'; takes=1 ;;\n", flag.name,
                            flag.choices ? flag.choices : "");
  }
  std::string text = fmt::format(
      "  {})\n    flags='{}'\n    words='{}'\n", command.name, flags,
      command.interface->choices ? command.interface->choices : "");
  if (!values.empty())
    text += "    case $before in\n" + values + "    esac\n";
  return text + "    ;;\n";
}

// Where there are no words, bash completes files.
std::string bash() {
  std::string text = fmt::format(
      "# Completion of sinter for bash, as `sinter completion bash` prints "
      "it.\n"
      "_sinter() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} flags= words= takes=\n"
      "  local before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      commandNames());
  for (const Command &command : commands())
    if (command.interface)
      text += bashOf(command);
  return text + "  esac\n"
                "  if [[ -z $takes && $word == -* ]]; then\n"
                "    words=$flags\n"
                "  fi\n"
                "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                "}\n"
                "complete -o default -F _sinter sinter\n";
}

//===- zsh ----------------------------------------------------------------===//

/// In quotes, with what _arguments reads escaped.
std::string zshText(std::string_view text) {
  std::string result;
  for (char letter : text) {
    if (letter == '\'')
      result += "'\\''";
    else if (letter == '[' || letter == ']' || letter == ':' || letter == '\\')
      result += std::string("\\") + letter;
    else
      result += letter;
  }
  return result;
}

std::string zshValues(const char *choices) {
  return choices ? "(" + zshText(choices) + ")" : "_files";
}

std::string zshOf(const Command &command) {
  std::string text = fmt::format("  {})\n    _arguments \\\n", command.name);
  for (const Flag &flag : allFlags(*command.interface)) {
    text += fmt::format("      '*{}[{}]", flag.name, zshText(flag.help));
    if (flag.value)
      text +=
          fmt::format(":{}:{}", zshText(flag.value), zshValues(flag.choices));
    text += "' \\\n";
  }
  return text + fmt::format("      '*:argument:{}'\n    ;;\n",
                            zshValues(command.interface->choices));
}

std::string zsh() {
  std::string text =
      "#compdef sinter\n"
      "# Completion of sinter for zsh, as `sinter completion zsh` prints it.\n"
      "_sinter() {\n"
      "  local -a list=(\n";
  for (const Command &command : commands())
    text +=
        fmt::format("    '{}:{}'\n", command.name, zshText(command.summary));
  text += "  )\n"
          "  if ((CURRENT == 2)); then\n"
          "    _describe command list\n"
          "    return\n"
          "  fi\n"
          "  local name=$words[2]\n"
          "  shift words\n"
          "  ((CURRENT--))\n"
          "  case $name in\n";
  for (const Command &command : commands())
    if (command.interface)
      text += zshOf(command);
  return text + "  esac\n"
                "}\n"
                "_sinter \"$@\"\n";
}

//===- fish ---------------------------------------------------------------===//

std::string fishText(std::string_view text) {
  std::string result;
  for (char letter : text) {
    if (letter == '\'' || letter == '\\')
      result += '\\';
    result += letter;
  }
  return result;
}

std::string fishOf(const Command &command) {
  std::string head = fmt::format(
      "complete -c sinter -n '__fish_seen_subcommand_from {}'", command.name);
  std::string text;
  if (const char *choices = command.interface->choices)
    text += fmt::format("{} -f -a '{}'\n", head, choices);
  for (const Flag &flag : allFlags(*command.interface)) {
    std::string_view name = flag.name;
    bool isLong = name.starts_with("--");
    text += fmt::format("{} -{} {}", head, isLong ? "l" : "s",
                        name.substr(isLong ? 2 : 1));
    if (flag.choices)
      text += fmt::format(" -x -a '{}'", flag.choices);
    else if (flag.value)
      text += " -r";
    text += fmt::format(" -d '{}'\n", fishText(flag.help));
  }
  return text;
}

std::string fish() {
  std::string text =
      "# Completion of sinter for fish, as `sinter completion fish` prints "
      "it.\n";
  for (const Command &command : commands())
    text += fmt::format(
        "complete -c sinter -n __fish_use_subcommand -f -a {} -d '{}'\n",
        command.name, fishText(command.summary));
  text += "complete -c sinter -n __fish_use_subcommand -l version -d 'print "
          "the version'\n";
  for (const Command &command : commands())
    if (command.interface)
      text += fishOf(command);
  return text;
}
} // namespace

int runCompletion(int argc, char **argv) {
  Arguments arguments(argc, argv, completionInterface);
  if (arguments.exit)
    return *arguments.exit;
  const std::string &shell = arguments.positional()[0];
  if (shell != "bash" && shell != "zsh" && shell != "fish")
    return report(
        makeError(ErrorKind::invalid_argument,
                  "completion: '" + shell + "' is none of bash, zsh, fish"));
  fmt::print("{}", shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish());
  return exitOk;
}

} // namespace sinter::cli
