/// CompileEntry: a program for a device that a file has none for.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/program/LoadedProgram.h"
#include "sinter/runtime/Result.h"

#include <cstdint>
#include <memory>
#include <string>

namespace sinter::runtime {

/// As loadEntry. Where no program of the entry runs on the device, and there is
/// a compiler, the file's portable graph is compiled, in the numerics of its
/// programs, and kept in the program cache; a message tells so. Without a
/// compiler or a graph the error says what the file holds and what the device
/// has. With `graphAlone` it is compiled whatever programs the file has, but on
/// the null device, which runs nothing native.
Result<std::shared_ptr<const Program>>
loadOrCompileEntry(std::shared_ptr<const FileBytes> file, uint32_t entry,
                   Device &device, const std::string &path = {},
                   bool graphAlone = false);

} // namespace sinter::runtime
