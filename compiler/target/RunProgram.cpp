/// Starts programs over temporary files.
#include "compiler/target/RunProgram.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace sinter::compiler {
namespace {

/// A file of its own in the system's temporary folder.
class TemporaryFile {
public:
  explicit TemporaryFile(StringRef suffix)
      : failed(sys::fs::createTemporaryFile("sinter", suffix, path)),
        remover(path) {}

  bool write(StringRef text) {
    std::error_code problem;
    raw_fd_ostream out(path, problem);
    if (problem)
      return false;
    out << text;
    out.close();
    bool isWhole = !out.has_error();
    out.clear_error();
    return isWhole;
  }
  std::string read() const {
    auto buffer = MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

  SmallString<128> path;
  const std::error_code failed;

private:
  FileRemover remover;
};

} // namespace

Result<ProgramResult> runProgram(const OuterProgram &program, StringRef input) {
  ErrorOr<std::string> path = sys::findProgramByName(program.name);
  if (!path)
    return makeError(ErrorKind::unsupported,
                     (program.purpose + " " + program.name +
                      ", which is not found (" + program.origin + ")")
                         .str());
  bool hasOutput = !program.outputSuffix.empty();
  TemporaryFile source(program.inputSuffix), said("txt"),
      output(hasOutput ? program.outputSuffix : "txt");
  if (source.failed || said.failed || output.failed || !source.write(input))
    return makeError(ErrorKind::io, "no temporary file can be written");
  SmallVector<StringRef> arguments = {*path};
  append_range(arguments, program.arguments);
  arguments.push_back(source.path);
  if (hasOutput)
    append_range(arguments, ArrayRef<StringRef>{"-o", output.path});
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(said.path),
                                          StringRef(said.path)};
  ProgramResult result;
  std::string problem;
  result.code =
      sys::ExecuteAndWait(*path, arguments, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  if (!problem.empty())
    return makeError(ErrorKind::compile, problem);
  result.input = source.path.str();
  result.said = said.read();
  result.output = output.read();
  return result;
}

} // namespace sinter::compiler
