/// ChooseProgram: which of a file's programs a device runs.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/program/ModelReader.h"
#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>
#include <string>

namespace sinter::runtime {

struct ProgramChoice {
  uint32_t index = 0; ///< among the file's programs
  /// Which one it is and why it is not each of the others, in one line; empty
  /// for a file of one program.
  std::string text;
};

/// Of these programs the one that needs the most of what the device offers, of
/// several the first. An error of kind `unsupported` says of each why it does
/// not run, and what the device has.
Result<ProgramChoice> chooseProgram(const ModelFile &model,
                                    std::span<const uint32_t> programs,
                                    const Device &device);

} // namespace sinter::runtime
