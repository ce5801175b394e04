/// ExportStages: the programs that a recorded function becomes where values
/// decide sizes.
#pragma once

#include "frontend/Capture.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sinter::detail {

/// What a stage takes of those before it.
struct StageInput {
  graph::NodeRef node;
  uint32_t number = 0; ///< of the values that stages give, in order
  int32_t count = -1;  ///< the number of the value that counts its rows
};

/// One program: all that can be computed once the counts before it are read.
struct ExportStage {
  std::vector<StageInput> inputs;
  /// What later stages take; of the last stage what the function gives.
  std::vector<graph::NodeRef> outputs;
};

/// One stage where no size is counted. The nodes are not evaluated meanwhile.
std::vector<ExportStage> stagesOf(std::span<const graph::NodeRef> outputs,
                                  std::span<const CountedRows> counted);

} // namespace sinter::detail
