/// `sinter man`: the manual, as man(7) describes pages.
#include "tools/sinter/Arguments.h"
#include "tools/sinter/Command.h"

#include <sinter/version.h>

#include "sinter/runtime/Result.h"

#include <fmt/core.h>

namespace sinter::cli {

const Interface manInterface = {
    "man [COMMAND]",
    "Prints a page of the manual, of a command or of the tool, in the form "
    "that\n"
    "man reads. Installed packages have these pages.",
    "sinter man run | man -l -\n"
    "sinter man > sinter.1",
    {},
    0,
    1,
};

namespace {
/// Text in which nothing is a request or an escape.
std::string plain(std::string_view text) {
  std::string result;
  for (char letter : text) {
    bool begins = result.empty() || result.back() == '\n';
    if (begins && (letter == '.' || letter == '\''))
      result += "\\&";
    if (letter == '\\')
      result += "\\e";
    else if (letter == '-')
      result += "\\-";
    else
      result += letter;
  }
  return result;
}

std::string upper(std::string text) {
  for (char &letter : text)
    if (letter >= 'a' && letter <= 'z')
      letter += 'A' - 'a';
  return text;
}

std::string headOf(const std::string &name, std::string_view summary) {
  return fmt::format(".TH {} 1 \"\" \"Sinter {}\" \"Sinter\"\n"
                     ".SH NAME\n{} \\- {}\n",
                     upper(plain(name)), SINTER_VERSION, plain(name),
                     plain(summary));
}

void addFlag(std::string &page, const Flag &flag) {
  page += fmt::format(".TP\n\\fB{}\\fR", plain(flag.name));
  if (flag.value)
    page += fmt::format(" \\fI{}\\fR", plain(flag.value));
  page += "\n" + plain(flag.help) + "\n";
}

std::string pageOf(const Command &command) {
  const Interface &interface = *command.interface;
  std::string page =
      headOf(fmt::format("sinter-{}", command.name), command.summary);
  page += ".SH SYNOPSIS\n\\fBsinter\\fR " + plain(interface.usage) + "\n";
  page += ".SH DESCRIPTION\n" + plain(interface.description) + "\n";
  page += ".SH OPTIONS\n";
  for (const Flag &flag : allFlags(interface))
    addFlag(page, flag);
  page += ".SH EXAMPLES\n.nf\n" + plain(interface.examples) + "\n.fi\n";
  page += ".SH EXIT STATUS\n"
          "0: it worked. 1: the thing that was asked for failed. 2: it was "
          "asked for wrongly.\n";
  return page + ".SH SEE ALSO\n\\fBsinter\\fR(1)\n";
}

std::string pageOfAll() {
  std::string page =
      headOf("sinter", "compile, run and explain tensor programs");
  page += ".SH SYNOPSIS\n\\fBsinter\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n"
          ".SH COMMANDS\n";
  for (const Command &command : commands())
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", plain(command.name),
                        plain(command.summary));
  page += ".SH SEE ALSO\n";
  const char *comma = "";
  for (const Command &command : commands())
    if (command.interface) {
      page += fmt::format("{}\\fBsinter\\-{}\\fR(1)", comma, command.name);
      comma = ",\n";
    }
  return page + "\n";
}
} // namespace

int runMan(int argc, char **argv) {
  Arguments arguments(argc, argv, manInterface);
  if (arguments.exit)
    return *arguments.exit;
  if (arguments.positional().empty()) {
    fmt::print("{}", pageOfAll());
    return exitOk;
  }
  const std::string &name = arguments.positional()[0];
  for (const Command &command : commands())
    if (command.interface && name == command.name) {
      fmt::print("{}", pageOf(command));
      return exitOk;
    }
  return report(makeError(ErrorKind::invalid_argument,
                          "man: there is no page of '" + name + "'"));
}

} // namespace sinter::cli
