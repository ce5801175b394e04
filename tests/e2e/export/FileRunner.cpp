#include "tests/e2e/export/FileRunner.h"

#include "runtime/device/Device.h"

#include <sinter/Creation.h>

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

namespace sinter::test {

using namespace runtime;

template <typename T> static T get(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    throw std::runtime_error(result.error().message);
  }
  return std::move(*result);
}

static Device &device() { return *get(getDevice(default_device())); }

Value valueOf(const Tensor &tensor) {
  tensor.eval();
  Value value{tensor.dtype(), {}, {}};
  for (Dim dim : tensor.shape())
    value.dims.push_back(dim.value);
  value.bytes.resize(size_t(tensor.numel()) * byteWidth(tensor.dtype()));
  const BufferRef &buffer = tensor.node()->value();
  if (!value.bytes.empty())
    get(Result<bool>(buffer->device().copyOut(value.bytes, *buffer, 0).ok()));
  return value;
}

std::vector<float> floatsOf(const Value &value) {
  std::vector<float> floats(value.bytes.size() / sizeof(float));
  std::memcpy(floats.data(), value.bytes.data(), value.bytes.size());
  return floats;
}

FileRunner::FileRunner(const std::string &path)
    : file(std::make_shared<FileBytes>(get(MappedFile::open(path)))) {
  ModelFile checked = get(readModel(file->bytes(), ModelCheck::untilUse));
  model = get(readModelInfo(checked));
  WeightStore store(checked, model,
                    std::filesystem::path(path).parent_path().string());
  for (uint32_t i = 0; i < model.tensors.size(); ++i) {
    auto bytes = get(store.bytesOf(i));
    values.push_back({model.tensors[i].dtype,
                      model.tensors[i].dims,
                      {bytes.begin(), bytes.end()}});
  }
}

Value FileRunner::stored(const std::string &name) const {
  for (size_t i = 0; i < model.tensors.size(); ++i)
    if (model.tensors[i].name == name)
      return values[i];
  ADD_FAILURE() << "no tensor is named " << name;
  return {};
}

std::map<std::string, Value>
FileRunner::run(const std::string &name,
                const std::map<std::string, Value> &inputs) {
  int64_t number = model.findEntry(name);
  if (number < 0)
    throw std::runtime_error("no entry is named " + name);
  const EntryPoint &entry = model.entries[size_t(number)];
  PassedValues passed;
  for (uint32_t part : entry.parts)
    passed.add(runProgram(part, inputs, passed));
  std::vector<Output> outputs = runProgram(uint32_t(number), inputs, passed);
  const Program &program = *programs.at(uint32_t(number));
  std::map<std::string, Value> given;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Value value{program.outputs()[i].dtype, outputs[i].dims, {}};
    size_t count = 1;
    for (int64_t dim : value.dims)
      count *= size_t(dim);
    value.bytes.resize(count * byteWidth(value.dtype));
    if (!value.bytes.empty()) {
      EXPECT_TRUE(device().copyOut(value.bytes, *outputs[i].buffer, 0));
    }
    const EntryOutput &output = entry.outputs[i];
    if (output.updates < 0)
      given[output.name] = std::move(value);
    else if (output.isWeight)
      values[size_t(output.updates)] = std::move(value);
    else
      values[model.states[size_t(output.updates)].initial] = std::move(value);
  }
  return given;
}

std::vector<Output>
FileRunner::runProgram(uint32_t number,
                       const std::map<std::string, Value> &inputs,
                       PassedValues &passed) {
  const EntryPoint &entry = model.entries[number];
  auto &program = programs[number];
  if (!program)
    program = get(loadEntry(file, number, device()));
  std::vector<std::vector<int64_t>> dims;
  for (const EntryInput &input : entry.inputs)
    dims.push_back(input.kind == SlotKind::given ? inputs.at(input.name).dims
                                                 : std::vector<int64_t>());
  RandomDraws draws = get(randomDraws(entry, dims));
  uint64_t start = random.counter();
  random.take(draws.total);
  std::vector<Binding> bindings;
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const EntryInput &input = entry.inputs[i];
    Binding binding;
    binding.scalarBits = input.scalarBits;
    if (input.kind == SlotKind::random) {
      uint64_t words[] = {random.key_low(), random.key_high(),
                          start + draws.offsets[i]};
      binding.scalarBits = words[input.number];
    }
    const Value *value = nullptr;
    if (input.kind == SlotKind::given)
      value = &inputs.at(input.name);
    else if (input.kind == SlotKind::weight)
      value = &values[input.number];
    else if (input.kind == SlotKind::state)
      value = &values[model.states[input.number].initial];
    if (value && program->inputs()[i].kind == graph::InputKind::scalar) {
      std::memcpy(&binding.scalarBits, value->bytes.data(),
                  value->bytes.size());
    } else if (value) {
      binding.dims = value->dims;
      binding.buffer = get(device().allocate(value->bytes.size()));
      if (!value->bytes.empty()) {
        EXPECT_TRUE(device().copyIn(*binding.buffer, 0, value->bytes));
      }
    }
    bindings.push_back(std::move(binding));
  }
  if (Status bound = passed.bind(entry, bindings, device()); !bound)
    throw std::runtime_error(bound.error().message);
  return get(runtime::run(*program, bindings));
}

} // namespace sinter::test
