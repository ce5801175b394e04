/// Call: one node of a program, as the rule of its operator sees it.
#pragma once

#include "frontend/import/torch/Operators.h"
#include "frontend/import/torch/Value.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::torch {

class ProgramRecorder;

/// Thrown where a symbolic size has to be a number: what is recorded starts
/// again with the sizes of inputs as numbers, which guards the program.
struct NeedsNumbers {};

/// The number of a size that is a constant; throws NeedsNumbers for others.
int64_t fixed(Dim dim);
std::vector<int64_t> fixed(const Dims &dims);

/// Arguments by the names of the operator's schema, and results. An argument
/// that the file leaves out has the schema's default, which the rule names. One
/// that no rule asked for is an error, so that none is passed over.
class Call {
public:
  Call(ProgramRecorder &recorder, const NodeRecord &node,
       const GraphRecord &graph, std::vector<Value> values);

  const NodeRecord &node() const { return record; }
  ProgramRecorder &recorder() const { return owner; }
  /// The device that constants are made on.
  DeviceId device() const;

  //===- Arguments --------------------------------------------------------===//
  /// Whether it is given, and is not None.
  bool has(std::string_view name) const;
  /// Nothing where it is not given.
  const Value &value(std::string_view name) const;
  /// The argument at a position, for operators whose names vary.
  const Value &at(size_t position) const;
  size_t numArguments() const { return values.size(); }
  Tensor tensor(std::string_view name) const;
  /// Empty where it is None.
  std::optional<Tensor> optionalTensor(std::string_view name) const;
  /// Those of a list; None is an empty Tensor.
  std::vector<Tensor> tensors(std::string_view name) const;
  Dim dim(std::string_view name) const;
  Dims dims(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  std::vector<int64_t> integers(std::string_view name) const;
  /// One for each of `count` axes: a list of one stands for all. An empty list
  /// is as if it were not given.
  std::vector<int64_t> integers(std::string_view name, size_t count,
                                int64_t otherwise) const;
  double real(std::string_view name) const;
  double real(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise = false) const;
  std::string text(std::string_view name, std::string otherwise) const;
  std::optional<DType> dtype(std::string_view name) const;
  const GraphRecord &graph(std::string_view name) const;
  /// Passes over arguments that change nothing here: where a result is put, and
  /// in what order of memory.
  void ignore(std::initializer_list<std::string_view> names) const;
  /// An axis as a number of [0, rank).
  int64_t axisOf(int64_t axis, int64_t rank) const;
  int64_t axis(std::string_view name, int64_t rank) const;
  int64_t axis(std::string_view name, int64_t rank, int64_t otherwise) const;

  /// Whether the file gives an argument another shape than it has: what the
  /// file says of the results follows from that.
  bool hasMisstatedArgument() const;
  /// What the file says of a tensor argument; null where it is none, or
  /// misstated.
  const TensorRecord *inputRecord(std::string_view name) const;

  //===- Results ----------------------------------------------------------===//
  size_t numOutputs() const { return record.outputs.size(); }
  /// What the file says of a result; null where it is no tensor.
  const TensorRecord *outputRecord(size_t output = 0) const;
  /// The dtype that the file gives a result.
  DType outputDType(size_t output = 0) const;
  void give(Value value) { outputs.push_back(std::move(value)); }
  void give(Tensor tensor) { give(Value(std::move(tensor))); }
  /// A view of a tensor argument.
  void giveView(std::string_view source, View view);
  /// Several: the result is a list of them.
  void giveViews(std::string_view source, std::vector<View> views);
  /// An argument itself.
  void giveArgument(std::string_view name) { give(value(name)); }
  /// Changes a tensor argument in place.
  void change(std::string_view name, const Tensor &changed);
  std::vector<Value> &results() { return outputs; }

  /// What the program may ask for, but Sinter does not do.
  [[noreturn]] void unsupported(const std::string &what) const;
  /// What no program may ask for.
  [[noreturn]] void invalid(const std::string &what) const;
  /// Throws where the rule asked for less than the file gives.
  void checkAllRead() const;

private:
  [[noreturn]] void wrongKind(std::string_view name, const Value &value,
                              const char *wanted) const;
  int64_t indexOf(std::string_view name) const;
  const Value &required(std::string_view name) const;

  ProgramRecorder &owner;
  const NodeRecord &record;
  const GraphRecord &graphRecord;
  std::vector<Value> values, outputs;
  mutable std::vector<bool> isRead;
};

} // namespace sinter::torch
