/// RunOnOnes: records whatever program was read.
#pragma once

#include "frontend/import/torch/LoadedProgram.h"
#include "frontend/import/torch/ReadRecords.h"

#include <sinter/Creation.h>
#include <sinter/Torch.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace sinter::torch_test {

/// Zeros of a stored tensor as the program describes it; none where it is not
/// small.
inline std::optional<torch::ArchivedTensor>
zerosFor(const torch::TensorRecord &record) {
  torch::ArchivedTensor tensor;
  std::optional<DType> dtype = torch::dtypeOf(record.dtype);
  int64_t count = 1;
  for (const torch::SizeRecord &size : record.sizes) {
    if (!size.number || *size.number < 0 || *size.number > 4096)
      return std::nullopt;
    tensor.dims.push_back(*size.number);
    count = std::min<int64_t>(count * *size.number, 1 << 20);
  }
  if (!dtype || count > 1 << 16)
    return std::nullopt;
  tensor.dtype = *dtype;
  tensor.own = std::make_shared<const std::vector<std::byte>>(
      size_t(count) * byteWidth(*dtype));
  tensor.bytes = *tensor.own;
  return tensor;
}

/// Loads the program with zeros for what is stored and records it on ones of
/// the null device; evaluates nothing but sizes. False where something is not
/// small.
inline bool runOnOnes(std::string_view text) {
  auto program = torch::readProgram(text);
  if (!program)
    throw Error(makeError(program.error().kind, program.error().message));
  torch::Archive archive;
  archive.program = std::move(*program);
  const torch::ProgramRecord &record = archive.program;
  if (record.inputs.size() != record.graph.inputs.size() ||
      record.outputs.size() != record.graph.outputs.size())
    return false;
  for (const torch::SpecRecord &spec : record.inputs) {
    auto found = record.graph.tensors.find(spec.value.text);
    if (spec.target.empty() || found == record.graph.tensors.end())
      continue;
    std::optional<torch::ArchivedTensor> zeros = zerosFor(found->second);
    if (!zeros)
      return false;
    archive.weights.emplace(spec.target, *zeros);
  }
  torch::Model model =
      torch::modelOf(std::move(archive), {.device = device("null")}, "program");
  torch::NamedTensors inputs;
  for (const torch::ValueInfo &info : model.inputs()) {
    Dims dims;
    int64_t count = 1;
    for (const torch::Axis &axis : info.shape) {
      int64_t size =
          axis.size.value_or(std::max<int64_t>(2, axis.least.value_or(2)));
      if (size < 0 || size > 4096)
        return false;
      count = std::min<int64_t>(count * size, 1 << 20);
      dims.emplace_back(size);
    }
    if (!info.dtype || !isComputable(*info.dtype) || count > 1 << 16)
      return false;
    inputs[info.name] = ones(dims, {info.dtype, device("null")});
  }
  model.run(inputs);
  return true;
}

} // namespace sinter::torch_test
