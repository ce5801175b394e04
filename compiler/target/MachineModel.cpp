/// The numbers of a machine by which kernels are chosen.
#include "compiler/target/MachineModel.h"
#include "dialects/program/Program.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

namespace sinter::compiler {

using Own = MachineField::Own;

// Code relies on as much shared memory as the usual card has, and lanes follow
// from lines.
static constexpr MachineField fields[] = {
    {"multiprocessors", &MachineModel::multiprocessors,
     "that blocks of threads fall to"},
    {"registers", &MachineModel::registers,
     "of 32 bits that a multiprocessor has"},
    {"threads", &MachineModel::threads, "that a multiprocessor holds"},
    {"schedulers", &MachineModel::schedulers,
     "of a multiprocessor: warps that start an instruction in a cycle"},
    {"shared_bytes", &MachineModel::sharedBytes,
     "of shared memory that a block can have", Own::more},
    {"level2_bytes", &MachineModel::level2Bytes, "of the second-level cache",
     Own::same},
    {"line_bytes", &MachineModel::lineBytes,
     "that memory brings to the second-level cache at once", Own::same},
    {"clock_megahertz", &MachineModel::clockMegahertz,
     "cycles of a multiprocessor in a microsecond"},
    {"operations", &MachineModel::operations,
     "on 32 bits that a multiprocessor does in a cycle"},
    {"wide_operations", &MachineModel::wideOperations,
     "on 64 bits that a multiprocessor does in a cycle"},
    {"matrix_operations", &MachineModel::matrixOperations,
     "multiply-adds on 16 bits that its matrix units do in a cycle"},
    {"cache_read_bytes", &MachineModel::cacheReadBytes,
     "that a multiprocessor reads of the second-level cache in a cycle"},
    {"memory_bytes", &MachineModel::memoryBytes,
     "that memory moves in a cycle of a multiprocessor"},
    {"sector_bytes", &MachineModel::sectorBytes,
     "that memory moves at least for an element"},
    {"latency_cycles", &MachineModel::latencyCycles,
     "of a multiprocessor, from asking memory to having what it gives"},
    {"launch_cycles", &MachineModel::launchCycles,
     "of a multiprocessor, from one kernel to the next"},
};

std::span<const MachineField> machineFields() { return fields; }

// Registers, threads, shared memory and lines are the driver's answers there;
// what latency and cache are worth was fitted to products (FmaCost.cpp,
// WarpgroupUnit.cpp).
MachineModel measuredMachine() {
  return {.multiprocessors = 132,
          .registers = 64 * 1024,
          .threads = 2048,
          .schedulers = 4,
          .sharedBytes = 227 * 1024,
          .lineBytes = 64,
          .clockMegahertz = 1980,
          .operations = 128,
          .wideOperations = 64,
          .matrixOperations = 2048,
          .cacheReadBytes = 60,
          .memoryBytes = 2400,
          .sectorBytes = 32,
          .latencyCycles = 500,
          .launchCycles = 4000};
}

// Arithmetic of loops that are in the first-level cache; memory's share of a
// core where all of them read.
MachineModel coreMachine() {
  return {.multiprocessors = 1,
          .level2Bytes = 1 << 20,
          .lineBytes = 64,
          .clockMegahertz = 2500,
          .operations = 16,
          .wideOperations = 8,
          .memoryBytes = 4,
          .sectorBytes = 64,
          .launchCycles = 5000};
}

static ErrorInfo refused(llvm::StringRef what, const MachineModel &usual) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const MachineField &field : fields)
    if (usual.*field.value > 0)
      names.push_back(field.name);
  return makeError(ErrorKind::invalid_argument,
                   llvm::formatv("a machine is stated as {{NAME=NUMBER+...}, "
                                 "of {0}: {1}",
                                 llvm::join(names, ", "), what)
                       .str());
}

// What is wrong with the number; nothing where all is well.
static std::string wrongWith(const MachineField &field, llvm::StringRef digits,
                             int64_t usual, int64_t &number) {
  auto error = [&](const char *format) {
    return llvm::formatv(false, format, digits, field.name, usual).str();
  };
  if (digits.getAsInteger(10, number) || number < 1)
    return error("'{0}' of {1} is no positive number");
  if (number > program::TargetAttr::mostOfMachine)
    return error("'{0}' of {1} is too large");
  if (field.own == Own::more && number < usual)
    return error("'{0}' of {1} is less than every card of the target has, {2}");
  if (field.own == Own::same && number != usual)
    return error("'{0}' of {1}: every card of the target is taken to have {2}");
  return {};
}

Result<MachineModel> parseMachine(std::string_view text,
                                  const MachineModel &usual) {
  llvm::StringRef rest = text;
  if (!rest.consume_front("{") || !rest.consume_back("}"))
    return refused(llvm::formatv("'{0}'", rest).str(), usual);
  MachineModel model = usual;
  llvm::SmallPtrSet<const MachineField *, 4> seen;
  llvm::SmallVector<llvm::StringRef> parts;
  rest.split(parts, '+');
  for (llvm::StringRef part : parts) {
    auto [name, digits] = part.split('=');
    const auto *field = llvm::find_if(fields, [&](const MachineField &each) {
      return name == each.name && usual.*each.value > 0;
    });
    if (field == std::end(fields))
      return refused(llvm::formatv("there is no '{0}'", name).str(), usual);
    if (!seen.insert(field).second)
      return refused(llvm::formatv("'{0}' is there twice", name).str(), usual);
    std::string wrong =
        wrongWith(*field, digits, usual.*field->value, model.*field->value);
    if (!wrong.empty())
      return refused(wrong, usual);
  }
  return model;
}

} // namespace sinter::compiler
