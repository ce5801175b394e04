/// Which outputs of a program take over the memory of inputs.
#pragma once

#include "runtime/program/Program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime {

/// By output: whether it is written into the memory of an input that is given
/// up (`donate`), if each is in a buffer of its own that nothing else needs.
/// Sizes are those of `peak`, which is of the same program and inputs.
std::vector<bool> writtenInPlace(const Program &program,
                                 std::span<const Binding> inputs,
                                 const PeakMemory &peak);

} // namespace sinter::runtime
