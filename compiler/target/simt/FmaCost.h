/// FmaCost: how long a product takes whose tiles lie so.
#pragma once

#include "compiler/target/MachineModel.h"
#include "compiler/target/simt/FmaLayout.h"

namespace sinter::compiler {

/// Of a product; parts of k count as batches.
struct FmaSizes {
  int64_t rows, columns, batches, depth;
};

/// All tiles that fall to a multiprocessor, in its cycles.
double cyclesOf(const FmaSizes &sizes, const FmaLayout &layout,
                const MachineModel &machine);

} // namespace sinter::compiler
