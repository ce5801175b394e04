/// ProgramRecorder: records the nodes of a program, one after the other.
#pragma once

#include "frontend/import/torch/Call.h"
#include "frontend/import/torch/Records.h"
#include "frontend/import/torch/Value.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace sinter::torch {

/// Values by name.
using Scope = std::unordered_map<std::string, Value>;

/// One recording of a program.
class ProgramRecorder {
public:
  /// `file` names the program in errors and must outlive the recorder.
  ProgramRecorder(const std::string &file, DeviceId device)
      : file(file), place(device) {}
  /// The sizes of all inputs are numbers: a node that needs others fails.
  void expectNumbers() { hasNumbers = true; }
  /// What symbols of the file are in this recording.
  using Symbols = std::map<std::string, Dim, std::less<>>;
  void setSymbols(const Symbols &symbols);

  /// The nodes of `graph` in `scope`, which has its inputs: its outputs.
  std::vector<Value> record(const GraphRecord &graph, Scope &scope);
  /// A graph in an argument of the node that is recorded now.
  std::vector<Value> call(const GraphRecord &graph, std::vector<Value> inputs);
  DeviceId device() const { return place; }
  /// Whether a tensor has the dtype and the sizes that the file gives it.
  bool isAsRecorded(const Tensor &tensor, const TensorRecord &record) const;

private:
  Value valueOf(const ArgumentRecord &argument, const Scope &scope) const;
  void recordNode(const NodeRecord &node, const GraphRecord &graph,
                  Scope &scope);
  void dispatch(const NodeRecord &node, const GraphRecord &graph, Scope &scope);
  void finishInPlace(Call &call);
  void define(const NodeRecord &node, const GraphRecord &graph,
              std::vector<Value> results, bool mayDiffer, Scope &scope);
  /// `mayDiffer` from what the file says, as it follows from what is misstated.
  void defineOne(const ArgumentRecord &output, const GraphRecord &graph,
                 Value result, bool mayDiffer, Scope &scope);
  /// Throws where there are too many.
  void countNode();
  [[noreturn]] void fail(const NodeRecord &node, ErrorInfo error) const;

  const std::string &file;
  DeviceId place;
  bool hasNumbers = false;
  std::map<std::string, int64_t, std::less<>> sizes; ///< of symbols
  std::set<std::string, std::less<>> open; ///< symbols that stay symbols
  size_t recordedNodes = 0;
  unsigned depth = 0;
};

} // namespace sinter::torch
