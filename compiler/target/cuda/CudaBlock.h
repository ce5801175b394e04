/// CudaBlock: a block's threads for rows that they work on together.
#pragma once

#include "compiler/target/BlockThreads.h"

namespace sinter::compiler {

std::unique_ptr<const BlockThreads> makeCudaBlock();

} // namespace sinter::compiler
