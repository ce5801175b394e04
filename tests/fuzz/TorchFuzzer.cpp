/// Programs of torch.export: what is read is recorded, and nothing worse than
/// an Error comes of it.
#include "frontend/import/torch/Archive.h"
#include "tests/fuzz/Fuzzer.h"
#include "tests/unit/torch/ProgramMutator.h"
#include "tests/unit/torch/RunOnOnes.h"

#include <sinter/Error.h>

#include <algorithm>
#include <string>
#include <string_view>

using namespace sinter;
using sinter::fuzz::require;

#ifndef SINTER_REPLAY
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

/// Most mutations keep the text whole, else few would be read to its end.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t limit, unsigned seed) {
  if (seed % 4 == 0)
    return LLVMFuzzerMutate(data, size, limit);
  std::string altered = torch_test::mutateProgram(
      {reinterpret_cast<const char *>(data), size}, seed);
  if (altered.size() > limit)
    return size;
  std::ranges::copy(altered, data);
  return altered.size();
}
#endif

SINTER_FUZZER(Torch) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  try {
    torch_test::runOnOnes(text);
  } catch (const Error &error) {
    require(!error.message().empty());
  }
  (void)torch::readPayloads(text);
  (void)torch::readArchive(sinter::fuzz::bytesOf(data, size), true);
}
