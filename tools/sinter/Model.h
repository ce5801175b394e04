/// Model files of the command line: text or compiled, and how they are read
/// and written.
#pragma once

#include "runtime/files/MappedFile.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/program/Program.h"
#include "runtime/program/ProgramData.h"
#include "sinter/runtime/Result.h"
#include "tools/sinter/Arguments.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter::cli {

class ModelEntry;

/// A model as the user named it.
struct Model {
  std::string path;
  std::string text;      ///< of the dialect
  bool compiled = false; ///< a `.sinter` file, which is read when it is used
  /// Keeps the file that an imported model became.
  std::shared_ptr<const void> imported = {};
};

/// Reads a `.mlir` file, or names a `.sinter` file; `-` is the standard input,
/// as text. An `.onnx` or `.pt2` file becomes a `.sinter`
/// file, as its flags say.
Result<Model> readModelFile(const std::string &path,
                            const Arguments &arguments);

Result<std::vector<std::byte>> readBytes(const std::string &path);
/// As replaceFile; `-` is the standard output, where it is printable.
Status writeText(const std::string &path, std::string_view text);

/// The flags that every command which may compile takes.
inline constexpr Flag deviceFlag = {
    "--device", "DEVICE",
    "cpu, cuda:0, vulkan:0, as sinter devices lists them; default "
    "SINTER_DEVICE or cpu",
    "cpu cuda:0 vulkan:0"};
inline constexpr Flag targetFlag = {
    "--target", "TARGET",
    "cpu, cpu:x86-64-v3, cpu:x86-64-v4 or cpu:scalar; +avx512bf16 after one "
    "adds a feature; cpu:aarch64, for another machine; cuda:sm_80, "
    "cuda:sm_90, cuda:sm_100 or cuda:sm_103, of a card with other numbers "
    "(sinter devices --model) cuda:sm_90{multiprocessors=114}; vulkan, "
    "vulkan:lavapipe, "
    "vulkan:h200 or vulkan:minimal13",
    "cpu cpu:x86-64-v3 cpu:x86-64-v4 cpu:scalar cpu:aarch64 cuda:sm_80 "
    "cuda:sm_90 cuda:sm_100 cuda:sm_103 vulkan "
    "vulkan:lavapipe vulkan:h200 vulkan:minimal13"};
inline constexpr Flag numericsFlag = {
    "--numerics", "MODE", "exact, default or fast", "exact default fast"};
inline constexpr Flag fusionFlag = {
    "--fusion", "TIER", "full, or none: one op per kernel", "full none"};
inline constexpr Flag memoryLimitFlag = {
    "--memory-limit", "BYTES",
    "compute values again rather than keep them, above these"};
inline constexpr Flag dynamicFlag = {"--dynamic", "INPUT:AXIS=NAME",
                                     "make an axis of a text's input symbolic"};
inline constexpr Flag sizeFlag = {
    "--size", "NAME=N",
    "an open axis of an .onnx or .pt2 model has this size only"};
inline constexpr Flag constantFlag = {
    "--constant", "INPUT=FILE.npy",
    "an input of an .onnx or .pt2 model is part of the program"};
inline constexpr Flag tuneFlag = {
    "--tune", nullptr,
    "choose the tiles of products by their times on the device (SINTER_TUNE)"};
inline constexpr Flag tileFlag = {
    "--tile", "KERNEL=TILE",
    "the tile of a kernel's product, as inspect --stage target lists them"};
Result<runtime::CompileRequest> compileRequest(const Arguments &arguments);
/// The device on which programs for a target are tuned: SINTER_DEVICE or the
/// first one of the target's kind.
std::string tuningDevice(std::string_view target);
/// The device that `--device` names; the request gets its target, unless
/// `--target` names another.
Result<runtime::Device *> openDevice(const Arguments &arguments,
                                     runtime::CompileRequest &request);

/// The request with the tiles that are fastest on the device it names, if it
/// names one, for a text.
Result<runtime::CompileRequest>
tunedRequest(const Model &model, const runtime::CompileRequest &request);
/// The model as the bytes of a `.sinter` file: as it is, or compiled now, tuned
/// where the request says so.
Result<std::vector<std::byte>>
compiledBytes(const Model &model, const runtime::CompileRequest &request);

inline constexpr Flag entryFlag = {"--entry", "NAME",
                                   "the entry of a file that has several"};

/// A model ready to run.
struct RunnableModel {
  std::shared_ptr<const runtime::Program> program;
  std::shared_ptr<ModelEntry> entry; ///< of a `.sinter` file, else null
};
/// A `.sinter` file is mapped; `--entry` says which of its entries. A text is
/// compiled.
Result<RunnableModel> loadModel(const Model &model, const Arguments &arguments,
                                const runtime::CompileRequest &request,
                                runtime::Device &device);

/// A model as the bytes of a `.sinter` file: mapped, or compiled now.
class ModelBytes {
public:
  explicit ModelBytes(std::vector<std::byte> compiled)
      : compiled(std::move(compiled)) {}
  explicit ModelBytes(runtime::MappedFile file) : file(std::move(file)) {}
  std::span<const std::byte> bytes() const {
    return file ? file->bytes() : std::span(compiled);
  }

private:
  std::vector<std::byte> compiled;
  std::optional<runtime::MappedFile> file;
};

/// What reports show of one of a compiled file's programs.
struct FileParts {
  std::shared_ptr<const ModelBytes> file; ///< that image and graph are in
  std::string entry;                      ///< that it is a program of
  runtime::ProgramData program;
  std::span<const std::byte> image;
  std::string_view graph;
  /// As the debug section, which is one for all; null without it.
  std::shared_ptr<const std::vector<std::string>> sites;

  /// `file:line` of a node, or empty.
  std::string_view siteOf(uint32_t node) const {
    return sites && node < sites->size() ? std::string_view((*sites)[node])
                                         : std::string_view();
  }
};
/// All of them, in order.
Result<std::vector<FileParts>> partsOf(std::shared_ptr<const ModelBytes> file);
/// Those of a model. Of a file that was made for several targets those for the
/// kind of device that `--target` names, without it all. There is one at least.
Result<std::vector<FileParts>>
selectParts(const Model &model, const Arguments &arguments,
            const runtime::CompileRequest &request);

} // namespace sinter::cli
