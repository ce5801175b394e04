/// FileRunner: runs entries of a model file by names, with state kept.
#pragma once

#include "runtime/files/MappedFile.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/program/ModelInfo.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/PassedValues.h"
#include "runtime/program/WeightStore.h"

#include <sinter/Random.h>
#include <sinter/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sinter::test {

/// Bytes and dims of a value.
struct Value {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  std::vector<std::byte> bytes;
  bool operator==(const Value &) const = default;
};
/// Of an evaluated tensor.
Value valueOf(const Tensor &tensor);
std::vector<float> floatsOf(const Value &value);

/// Loads a file on the default device. Everything that is missing or wrong
/// fails the test.
class FileRunner {
public:
  explicit FileRunner(const std::string &path);

  /// Given outputs by name.
  std::map<std::string, Value> run(const std::string &entry,
                                   const std::map<std::string, Value> &inputs);
  /// A weight or state as it is now.
  Value stored(const std::string &name) const;
  /// From where the next run draws.
  void setGenerator(const Generator &generator) { random = generator; }
  const runtime::ModelInfo &info() const { return model; }

private:
  /// One program: of an entry or of one of its parts.
  std::vector<runtime::Output>
  runProgram(uint32_t number, const std::map<std::string, Value> &inputs,
             runtime::PassedValues &passed);

  std::shared_ptr<const runtime::FileBytes> file;
  runtime::ModelInfo model;
  std::map<uint32_t, std::shared_ptr<const runtime::Program>> programs;
  std::vector<Value> values; ///< per tensor
  Generator random;
};

} // namespace sinter::test
