/// The opt tool over this compiler's passes.
#include "compiler/OptMain.h"
#include "compiler/Compiler.h"
#include "compiler/InspectStage.h"
#include "compiler/Passes.h"
#include "compiler/Pipeline.h"
#include "compiler/target/LoweringPasses.h"

#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <utility>

using namespace mlir;

namespace sinter::compiler {
namespace {

/// What is ours of a command line; the rest is for MLIR's tool.
struct OptCommand {
  std::optional<std::string> until, pipeline, target;
  std::vector<std::string> rest;
};

} // namespace

static int refuse(const Twine &message, int code) {
  llvm::errs() << "error: opt: " << message << "\n";
  return code;
}

// Options of ours are written `--name VALUE` or `--name=VALUE`. Gives the name
// of one that has none, or which does not go with another one.
static std::optional<std::string> parseCommand(int argc, char **argv,
                                               OptCommand &command) {
  std::pair<StringRef, std::optional<std::string> *> own[] = {
      {"--until", &command.until},
      {"--pipeline", &command.pipeline},
      {"--target", &command.target}};
  for (int index = 0; index < argc; ++index) {
    StringRef word = argv[index];
    auto [name, value] = word.split('=');
    auto *found = llvm::find_if(
        own, [&, option = name](auto &each) { return each.first == option; });
    if (found == std::end(own)) {
      command.rest.push_back(word.str());
      continue;
    }
    bool isApart = name.size() == word.size();
    if (isApart && index + 1 < argc)
      value = argv[++index];
    if (value.empty())
      return (name + " takes a value").str();
    *found->second = value.str();
  }
  if (command.until && command.pipeline)
    return "--until and --pipeline exclude each other";
  if (command.target && !command.until && !command.pipeline)
    return "--target goes with --until or --pipeline";
  return {};
}

/// Of a command with --until.
struct ShowCommand {
  std::string input = "-", output = "-";
  bool isSplit = false;
};

static std::optional<std::string> parseShow(ArrayRef<std::string> words,
                                            ShowCommand &command) {
  bool hasInput = false;
  for (size_t index = 0; index < words.size(); ++index) {
    StringRef word = words[index];
    if (word == "--split-input-file") {
      command.isSplit = true;
    } else if (word == "-o" && index + 1 < words.size()) {
      command.output = words[++index];
    } else if (word != "-" && word.starts_with("-")) {
      return (word + " goes with --pipeline, not with --until").str();
    } else if (std::exchange(hasInput, true)) {
      return "one file at a time";
    } else {
      command.input = word.str();
    }
  }
  return {};
}

// The stages up to one, as `sinter inspect --stage` runs and shows them.
static int showStages(const OptCommand &given) {
  ShowCommand command;
  if (auto wrong = parseShow(ArrayRef(given.rest).drop_front(), command))
    return refuse(*wrong, 2);
  if (Result<InspectForm> form = parseInspectForm(*given.until); !form)
    return refuse(form.error().message, 2);
  auto input = llvm::MemoryBuffer::getFileOrSTDIN(command.input);
  if (!input)
    return refuse(command.input + ": " + input.getError().message(), 1);
  std::error_code failure;
  llvm::ToolOutputFile output(command.output, failure, llvm::sys::fs::OF_None);
  if (failure)
    return refuse(command.output + ": " + failure.message(), 1);
  Options options;
  options.target = given.target.value_or(options.target);
  auto show = [&](std::unique_ptr<llvm::MemoryBuffer> part, raw_ostream &out) {
    std::string_view text(part->getBufferStart(), part->getBufferSize());
    Result<std::string> shown = inspectText(text, *given.until, options);
    if (shown)
      out << *shown;
    else
      llvm::errs() << "error: " << shown.error().message << "\n";
    return success(bool(shown));
  };
  StringRef border = command.isSplit ? StringRef(kDefaultSplitMarker) : "";
  if (failed(splitAndProcessBuffer(std::move(*input), show, output.os(), border,
                                   border)))
    return 1;
  output.keep();
  return 0;
}

int optMain(int argc, char **argv) {
  OptCommand command;
  if (auto wrong = parseCommand(argc, argv, command))
    return refuse(*wrong, 2);
  if (command.until)
    return showStages(command);
  registerSinterPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  DialectRegistry dialects;
  compilerDialects().appendTo(dialects);
  registerLoweringDialects(dialects);
  if (command.pipeline) {
    std::string first =
        command.target ? "set-target{name=" + *command.target + "}," : "";
    command.rest.push_back("--pass-pipeline=builtin.module(" + first +
                           *command.pipeline + ")");
  }
  std::vector<char *> pointers;
  for (std::string &argument : command.rest)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  LogicalResult done = MlirOptMain(int(command.rest.size()), pointers.data(),
                                   "sinter opt", dialects);
  return failed(done) ? 1 : 0;
}

} // namespace sinter::compiler
