/// ONNX models: what is read is recorded and, where it is small, nothing worse
/// than an Error comes of it.
#include "frontend/import/onnx/ReadRecords.h"
#include "frontend/import/onnx/TensorBytes.h"
#include "tests/fuzz/Fuzzer.h"

#include <sinter/Creation.h>
#include <sinter/Error.h>
#include <sinter/Onnx.h>

#include <algorithm>

using namespace sinter;
using sinter::fuzz::require;

/// Elements of all tensors of what the model wants are few.
static bool isSmall(const onnx::ValueInfo &info) {
  int64_t count = 1;
  for (const onnx::Axis &axis : *info.shape) {
    int64_t size = axis.size.value_or(2);
    if (size < 0 || size > 64)
      return false;
    count = std::min<int64_t>(count * size, 1 << 20);
  }
  return count <= 4096 && info.shape->size() <= 6;
}

/// Records the model on ones, and evaluates nothing.
static void recordOnOnes(const onnx::Model &model) {
  onnx::NamedTensors inputs;
  for (const onnx::ValueInfo &info : model.inputs()) {
    if (!info.dtype || !info.shape || !isSmall(info))
      return;
    Dims dims;
    for (const onnx::Axis &axis : *info.shape)
      dims.emplace_back(axis.size.value_or(2));
    inputs[info.name] = ones(dims, {info.dtype, device("null")});
  }
  model.run(inputs);
}

SINTER_FUZZER(Onnx) {
  auto bytes = sinter::fuzz::bytesOf(data, size);
  try {
    onnx::Model model = onnx::load(bytes, {{}, device("null")});
    recordOnOnes(model);
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
