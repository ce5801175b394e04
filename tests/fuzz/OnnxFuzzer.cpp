/// ONNX models: what is read is recorded and, where it is small, nothing worse
/// than an Error comes of it.
#include "frontend/import/onnx/ReadRecords.h"
#include "frontend/import/onnx/TensorBytes.h"
#include "tests/fuzz/Fuzzer.h"
#include "tests/unit/onnx/ModelMutator.h"
#include "tests/unit/onnx/RunOnOnes.h"

#include <sinter/Creation.h>
#include <sinter/Error.h>
#include <sinter/Onnx.h>

#include <algorithm>
#include <string>
#include <string_view>

using namespace sinter;
using sinter::fuzz::require;

#ifndef SINTER_REPLAY
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

/// Most mutations keep messages whole, else few would be read to their end.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t limit, unsigned seed) {
  if (seed % 4 == 0)
    return LLVMFuzzerMutate(data, size, limit);
  std::string_view model(reinterpret_cast<const char *>(data), size);
  std::string altered = onnx_test::mutateModel(model, model, seed);
  if (altered.size() > limit)
    return size;
  std::ranges::copy(altered, data);
  return altered.size();
}
#endif

SINTER_FUZZER(Onnx) {
  auto bytes = sinter::fuzz::bytesOf(data, size);
  try {
    onnx::Model model = onnx::load(bytes, {.device = device("null")});
    onnx_test::runOnOnes(model);
  } catch (const Error &error) {
    require(!error.message().empty());
  }
  try {
    onnx::TensorRecord tensor = onnx::readTensor(bytes);
    onnx::ExternalFiles none;
    onnx::elementsOf(tensor, none);
  } catch (const Error &error) {
    require(!error.message().empty());
  }
}
