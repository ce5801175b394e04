/// ExportParts: what a ModelExport has gathered.
#pragma once

#include "frontend/Capture.h"
#include "runtime/graph/Slice.h"
#include "runtime/program/ModelInfo.h"

#include <sinter/Export.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sinter::detail {

/// A parameter or a piece of state that functions of the file use.
struct ExportedCell {
  runtime::CellRef cell;
  std::string name;     ///< empty: not known yet
  bool updated = false; ///< by one of the functions
  Tensor value;         ///< when it was first used
};

/// Another tensor that functions use.
struct ExportedTensor {
  Tensor value;
  std::string name;
};

/// An input or output and what it is bound to: a cell or a tensor, or, with
/// neither, what its slot says.
struct InputSlot {
  runtime::EntryInput slot;
  int64_t cell = -1;
  int64_t tensor = -1;
};
struct OutputSlot {
  runtime::EntryOutput slot;
  int64_t cell = -1;
};

/// One recorded function.
struct ExportedEntry {
  graph::Graph graph;
  /// A value whose gradient a function of the user's gives.
  std::optional<uint32_t> customGradient;
  runtime::EntryPoint point; ///< without inputs, outputs and programs
  std::vector<InputSlot> inputs;
  std::vector<OutputSlot> outputs;
  /// What runs before it, where values decide sizes (ExportStages.h).
  std::vector<ExportedEntry> parts;
};

struct ExportParts {
  std::vector<ExportedEntry> entries;
  std::vector<ExportedCell> cells; ///< named ones in the order of their modules
  std::vector<ExportedTensor> tensors;
  std::unordered_map<const runtime::Cell *, size_t> cellNumbers;
  std::unordered_map<const graph::Node *, size_t> tensorNumbers;
  /// Of fields of modules.
  std::map<const runtime::Cell *, std::string> cellNames;
  std::vector<runtime::CellRef> cellOrder;
  std::vector<runtime::CellRef> givenCells; ///< kept, as the tensors below
  std::unordered_map<const graph::Node *, std::string> tensorNames;
  std::vector<Tensor> namedTensors; ///< kept, so that addresses stay theirs
  /// Of parameters whose steps are counted: which others step with them.
  std::map<const runtime::Cell *, std::string> steppedSets;
  /// Rates that runs are given, by the optimizer's number.
  std::map<uint64_t, std::string> rates;

  size_t numberOf(const runtime::CellRef &cell);
  size_t numberOf(const graph::NodeRef &node);
};

/// An invalid_argument error of exporting.
[[noreturn]] void refuseExport(const std::string &what,
                               const SourceLine &where);

} // namespace sinter::detail
