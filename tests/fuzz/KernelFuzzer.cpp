/// Kernels as the disk cache keeps them.
#include "compiler/package/KernelFile.h"
#include "tests/fuzz/Fuzzer.h"

SINTER_FUZZER(Kernel) {
  auto kernel =
      sinter::compiler::readKernel("key", sinter::fuzz::bytesOf(data, size));
  sinter::fuzz::require(kernel || !kernel.error().message.empty());
}
