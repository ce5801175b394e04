/// VerifyProgram: turns an untrusted program section into ProgramData.
#pragma once

#include "runtime/program/CopyBudget.h"
#include "runtime/program/ProgramData.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <span>

namespace sinter::runtime {

struct ModelFile;

/// Verifies the flatbuffer of a file's program, then every index, expr order,
/// buffer kind, step range and size. An error of kind `io` says what is wrong.
Result<ProgramData> verifyProgram(const ModelFile &model, uint32_t index);
/// The same of one of several, for which all take from `budget`.
Result<ProgramData> verifyProgram(const ModelFile &model, uint32_t index,
                                  CopyBudget &budget);

/// The debug section: one `file:line`, or empty, per post-order number.
Result<std::vector<std::string>> readSites(std::span<const std::byte> section);

/// Only target and variant, from a verified flatbuffer.
struct Requirements {
  std::string target;
  std::string variant;
};
Result<Requirements> readRequirements(std::span<const std::byte> section);

/// The second half of verifyProgram: how steps use buffers over time. Keeps
/// only those alias pairs whose granting can neither change what a later step
/// reads nor overwrite state before the last error is known.
Status verifySteps(ProgramData &program);

} // namespace sinter::runtime
