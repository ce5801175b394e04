/// CudaBlock: a block's threads for rows that they work on together.
#pragma once

#include "compiler/target/BlockThreads.h"
#include "compiler/target/MachineModel.h"

namespace sinter::compiler {

std::unique_ptr<const BlockThreads> makeCudaBlock(const MachineModel &machine);

} // namespace sinter::compiler
