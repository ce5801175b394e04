/// `sinter inspect`: a model at a stage.
#include "tools/sinter/Inspect.h"

#include "runtime/program/BoundPlan.h"
#include "runtime/program/ModelInfo.h"
#include "runtime/program/ModelReader.h"
#include "runtime/support/Printable.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/Inputs.h"
#include "tools/sinter/ProgramText.h"
#include "tools/sinter/Signature.h"
#include "tools/sinter/import/ImportModel.h"
#include "tools/sinter/weights/WeightsText.h"

#include <algorithm>
#include <cstdio>

namespace sinter::cli {

static constexpr Flag flags[] = {
    {"--stage", "STAGE",
     "import, simplify, fuse, plan, lower, target, package, llvm, asm, ptx, "
     "sass or spirv; without it, the program itself",
     "import simplify fuse plan lower target package llvm asm ptx sass spirv"},
    {"--kernel", "NAME", "print one kernel only"},
    entryFlag,
    {"--memory", nullptr,
     "print the buffers of the plan, the peak of memory and what makes it"},
    {"--dim", "sN=VALUE", "a symbolic dim of that peak (default 4)"},
    targetFlag,
    numericsFlag,
    fusionFlag,
    memoryLimitFlag,
    dynamicFlag,
    sizeFlag,
    constantFlag,
    tuneFlag,
    tileFlag,
    {"--weights", nullptr, "of an .onnx file, list the weights"},
    {"--sha256", nullptr, "of weights, digests of their dense elements"},
    {"--json", nullptr, "of weights, print JSON"},
    {"--output", "FILE", "write there instead of the standard output"},
};
const Interface inspectInterface = {
    "inspect FILE [--stage STAGE] [--kernel NAME] [--memory]",
    "Prints a .mlir or .sinter model at a stage of the compiler. Of a .sinter\n"
    "file the signature, the programs and asm come from the file; other "
    "stages\n"
    "are made again from the graph in it, by the same compiler only. Of an "
    ".onnx\n"
    "file, without a stage: signature, operators, and what is not supported.\n"
    "Any other file is one of weights: its tensors, their types, shapes, "
    "bytes\n"
    "and ties, and metadata.",
    "sinter inspect net.onnx\n"
    "sinter inspect net.sinter --stage asm --kernel matmul_0\n"
    "sinter inspect model.safetensors --json --sha256",
    flags,
    1,
    1,
};

// The part of a text that stands under `// ---- kernel NAME`, or the kernel's
// own op.
static Result<std::string> kernelPart(const std::string &text,
                                      const std::string &name) {
  for (const std::string &head :
       {"// ---- kernel " + name + "\n", "program.kernel @" + name + "("}) {
    size_t start = text.find(head);
    if (start == std::string::npos)
      continue;
    bool isOp = head[0] == 'p';
    size_t end =
        text.find(isOp ? "\n  }" : "// ---- kernel ", start + head.size());
    if (isOp && end != std::string::npos)
      end += 5;
    return text.substr(start, end == std::string::npos ? end : end - start);
  }
  return makeError(ErrorKind::invalid_argument,
                   "inspect: no kernel '" + name + "' at this stage");
}

Result<std::string> remakeStage(const FileParts &parts,
                                const std::string &stage,
                                runtime::CompileRequest request) {
  SINTER_TRY_ASSIGN(const runtime::CompilerHook *hook, runtime::compilerHook());
  if (parts.program.compiler != hook->digest())
    return makeError(ErrorKind::unsupported,
                     "inspect: the file was made by compiler " +
                         parts.program.compiler + ", this one is " +
                         std::string(hook->digest()) +
                         "; only the program and asm can be shown");
  std::string kind = request.target.substr(0, request.target.find(':'));
  for (const runtime::KernelData &kernel : parts.program.kernels)
    if (!kernel.tile.empty() && parts.program.target == kind)
      request.tiles.push_back({kernel.name, kernel.tile});
  return hook->inspectText(parts.graph, stage, request);
}

// PTX modules stand one after the other, each ended by a zero byte.
static std::string ptxOf(std::span<const std::byte> image) {
  std::string text(reinterpret_cast<const char *>(image.data()), image.size());
  std::ranges::replace(text, '\0', '\n');
  return text;
}

static Result<std::string> programOf(const FileParts &parts,
                                     const Arguments &arguments) {
  bool memory = arguments.has("--memory");
  size_t limit = 2 * parts.file->bytes().size() + (size_t(8) << 20);
  SINTER_TRY_ASSIGN(std::string program,
                    programText(parts.program, memory, limit));
  if (!memory)
    return program;
  SINTER_TRY_ASSIGN(std::vector<int64_t> symbols,
                    symbolValues(parts.program.numSymbols, arguments));
  SINTER_TRY_ASSIGN(auto plan,
                    runtime::BoundPlan::make(parts.program, symbols));
  return program + "\n" +
         memoryText(runtime::peakOf(parts.program, *plan), parts.program.inputs,
                    parts.program.outputs,
                    [&](uint32_t node) { return parts.siteOf(node); });
}

// Of a file: what it offers.
static Result<std::string> signatureOf(const Model &model) {
  SINTER_TRY_ASSIGN(runtime::MappedFile mapped,
                    runtime::MappedFile::open(model.path));
  auto bytes = std::make_shared<ModelBytes>(std::move(mapped));
  SINTER_TRY_ASSIGN(std::vector<FileParts> parts, partsOf(bytes));
  SINTER_TRY_ASSIGN(runtime::ModelFile file,
                    runtime::readModel(bytes->bytes()));
  SINTER_TRY_ASSIGN(runtime::ModelInfo info, runtime::readModelInfo(file));
  return signatureText(info, parts,
                       2 * bytes->bytes().size() + (size_t(8) << 20));
}

// The signature of a file, and each program; with --memory also its peak.
static Result<std::string> programsOf(const Model &model,
                                      const std::vector<FileParts> &all,
                                      const Arguments &arguments) {
  std::string text;
  if (model.compiled) {
    SINTER_TRY_ASSIGN(text, signatureOf(model));
  }
  for (const FileParts &parts : all) {
    SINTER_TRY_ASSIGN(std::string program, programOf(parts, arguments));
    text += text.empty() ? "" : "\n";
    if (parts.entry != all.front().entry || parts.entry != "main")
      text += "of entry " + printableName(parts.entry) + ": ";
    text += program;
  }
  return text;
}

static Result<std::string> textOf(const Model &model,
                                  const Arguments &arguments,
                                  const runtime::CompileRequest &request) {
  std::string stage = arguments.get("--stage");
  bool isOfImage = stage == "sass" || stage == "spirv";
  if (!stage.empty() && !model.compiled && !isOfImage) {
    SINTER_TRY_ASSIGN(const runtime::CompilerHook *hook,
                      runtime::compilerHook());
    SINTER_TRY_ASSIGN(runtime::CompileRequest own,
                      tunedRequest(model, request));
    return hook->inspectText(model.text, stage, own);
  }
  SINTER_TRY_ASSIGN(std::vector<FileParts> all,
                    selectParts(model, arguments, request));
  if (stage.empty())
    return programsOf(model, all, arguments);
  const FileParts &parts = all.front();
  bool isCuda = parts.program.target == "cuda";
  if (isCuda && (stage == "asm" || stage == "ptx"))
    return ptxOf(parts.image);
  bool isVulkan = parts.program.target == "vulkan";
  if (stage == "sass" && !isCuda)
    return makeError(ErrorKind::invalid_argument,
                     "inspect: target " + parts.program.target +
                         " has no SASS; name one with --target cuda:sm_90");
  if (stage == "spirv" && !isVulkan)
    return makeError(ErrorKind::invalid_argument,
                     "inspect: target " + parts.program.target +
                         " has no SPIR-V; name one with --target vulkan");
  if (stage != "asm" && !isOfImage)
    return remakeStage(parts, stage, request);
  SINTER_TRY_ASSIGN(const runtime::CompilerHook *hook, runtime::compilerHook());
  return hook->disassemble(parts.image);
}

static int print(const Arguments &arguments, const Result<std::string> &text) {
  Status written = text ? writeText(arguments.get("--output", "-"), *text)
                        : Status(text.error());
  return written ? exitOk : report(written.error());
}

int runInspect(int argc, char **argv) {
  Arguments arguments(argc, argv, inspectInterface);
  if (arguments.exit)
    return *arguments.exit;
  Result<runtime::CompileRequest> request = compileRequest(arguments);
  if (!request)
    return report(request.error()), exitUsage;
  std::string path = arguments.positional()[0];
  bool isOfProgram = arguments.has("--stage") || arguments.has("--memory") ||
                     arguments.has("--kernel");
  bool isListed = arguments.has("--weights") || arguments.has("--json") ||
                  arguments.has("--sha256");
  if (path.ends_with(".pt2") && !isOfProgram && !isListed)
    return print(arguments, torchText(path));
  if (!isOfProgram && isWeightPath(path, arguments))
    return print(arguments, weightsText(path, arguments));
  if (arguments.has("--json") || arguments.has("--sha256")) {
    report(makeError(ErrorKind::invalid_argument,
                     "inspect: --json and --sha256 are of weights"));
    return exitUsage;
  }
  if (path.ends_with(".onnx") && !isOfProgram)
    return print(arguments, onnxText(path));
  Result<Model> model = readModelFile(path, arguments);
  if (!model)
    return report(model.error());
  request->debug |= arguments.has("--memory");
  Result<std::string> text = textOf(*model, arguments, *request);
  if (text && arguments.has("--kernel"))
    text = kernelPart(*text, arguments.get("--kernel"));
  return print(arguments, text);
}

} // namespace sinter::cli
