/// KernelRunner: kernel text, compiled, linked, loaded and called.
#include "tests/unit/lower/KernelRunner.h"

#include "compiler/link/LinkImage.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace sinter::compiler {

// The file stays open: its number is the name by which the loader knows it from
// other images.
void KernelRunner::load(const std::vector<std::byte> &image) {
  file = memfd_create("kernels", 0);
  std::string path = "/proc/self/fd/" + std::to_string(file);
  if (write(file, image.data(), image.size()) == ssize_t(image.size()))
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    error = "not loaded";
}

KernelRunner::KernelRunner(const std::string &text, const std::string &target,
                           bool keepText, NumericsMode numerics) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::SinterDialect>();
  context.loadDialect<program::ProgramDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    error += "not parsed";
    return;
  }
  auto made = makeTarget(target);
  if (!made) {
    error = made.error().message;
    return;
  }
  EmitOptions options;
  options.verify = true;
  options.keepText = keepText;
  options.numerics = numerics;
  auto kernel = *module->getOps<program::KernelOp>().begin();
  auto emitted = emitKernel(kernel, **made, options);
  if (failed(emitted)) {
    error += "not emitted";
    return;
  }
  error.clear();
  code = std::move(*emitted);
  auto image = linkImage(std::span(&code.object, 1));
  if (!image) {
    error = image.error().message;
    return;
  }
  load(*image);
}

KernelRunner::~KernelRunner() {
  if (library)
    dlclose(library);
  if (file >= 0)
    close(file);
}

void KernelRunner::run(std::vector<void *> buffers, std::vector<int64_t> dims,
                       int64_t chunksPerCall) {
  std::vector<std::vector<char>> workspaces;
  for (uint32_t bytes : code.workspaces) {
    workspaces.emplace_back(evaluate(code.exprs, bytes, dims) + 64);
    buffers.push_back(workspaces.back().data());
  }
  runtime::ErrorWord word{UINT64_MAX};
  runtime::KernelBlock block{runtime::kernelAbiVersion, 3, &word, dims.data(),
                             buffers.data()};
  for (const PhaseCode &phase : code.phases) {
    auto function = reinterpret_cast<runtime::KernelFunction>(
        dlsym(library, phase.symbol.c_str()));
    int64_t chunks = evaluate(code.exprs, phase.chunks, dims);
    for (int64_t last = chunks; last > 0;) {
      int64_t first = std::max<int64_t>(0, last - chunksPerCall);
      if (chunksPerCall > chunks)
        first = 0;
      function(&block, nullptr, first, last);
      last = first;
    }
  }
  errorWord = word.value;
}

std::string kernelText(const std::string &kind, int numSymbols,
                       const std::string &arguments, const std::string &body) {
  return "program.kernel @k(" + arguments + ") attributes {kind = \"" + kind +
         "\", num_symbols = " + std::to_string(numSymbols) + " : i64} {\n" +
         body + "\n}\n";
}

} // namespace sinter::compiler
