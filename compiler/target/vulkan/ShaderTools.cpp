/// Starts the programs over files that go away again.
#include "compiler/target/vulkan/ShaderTools.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;

namespace sinter::compiler {
namespace {

/// A program and how it is called: then come input and output.
struct Tool {
  const char *name;
  const char *language;
  const char *package; ///< of Debian
  std::vector<StringRef> arguments;
  const char *suffix; ///< of the input
};

/// A file of its own in the system's temporary folder.
class TemporaryFile {
public:
  explicit TemporaryFile(const char *suffix)
      : failed(sys::fs::createTemporaryFile("sinter-shader", suffix, path)),
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

/// What the program says: the lines that are about the source, with the name
/// in the place of the file.
std::string messages(StringRef said, StringRef file, StringRef name) {
  std::string text;
  for (StringRef line : split(said, '\n')) {
    // glslangValidator: `ERROR: FILE:3: why`; spirv-as: `error: 3: 1: why`.
    bool isError = line.consume_front(("ERROR: " + file + ":").str()) ||
                   line.consume_front("ERROR: 0:") ||
                   line.consume_front("error: ");
    if (isError && !line.contains("'' : compilation terminated"))
      text += (text.empty() ? "" : "\n") + (name + ":" + line.rtrim()).str();
  }
  return text.empty() ? said.trim().str() : text;
}

Result<std::vector<uint32_t>> run(const Tool &tool, const std::string &source,
                                  const std::string &name) {
  ErrorOr<std::string> program = sys::findProgramByName(tool.name);
  if (!program)
    return makeError(ErrorKind::unsupported,
                     std::string(tool.language) + " is compiled by " +
                         tool.name + ", which is not found (Debian's package " +
                         tool.package + ")");
  TemporaryFile input(tool.suffix), output("spv"), said("txt");
  if (input.failed || output.failed || said.failed || !input.write(source))
    return makeError(ErrorKind::io, "no temporary file can be written");
  SmallVector<StringRef> arguments = {*program};
  append_range(arguments, tool.arguments);
  append_range(arguments, ArrayRef<StringRef>{input.path, "-o", output.path});
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(said.path),
                                          StringRef(said.path)};
  std::string problem;
  int code =
      sys::ExecuteAndWait(*program, arguments, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  if (code != 0)
    return makeError(ErrorKind::compile,
                     problem.empty() ? messages(said.read(), input.path, name)
                                     : problem);
  std::string bytes = output.read();
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  return words;
}

} // namespace

Result<std::vector<uint32_t>> compileGlsl(const std::string &source,
                                          const std::string &name) {
  // For 1.3 it writes local sizes as constants (LocalSizeId, which is a feature
  // of its own).
  return run({"glslangValidator",
              "GLSL",
              "glslang-tools",
              {"-V", "--target-env", "vulkan1.2", "-S", "comp"},
              "comp"},
             source, name);
}

Result<std::vector<uint32_t>> assembleSpirv(const std::string &source,
                                            const std::string &name) {
  return run({"spirv-as",
              "an assembly of SPIR-V",
              "spirv-tools",
              {"--target-env", "vulkan1.3"},
              "spvasm"},
             source, name);
}

} // namespace sinter::compiler
