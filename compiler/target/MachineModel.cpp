/// The numbers of a machine by which kernels are chosen.
#include "compiler/target/MachineModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

namespace sinter::compiler {

static constexpr MachineField fields[] = {
    {"multiprocessors", &MachineModel::multiprocessors,
     "that blocks of threads fall to"},
    {"clock_megahertz", &MachineModel::clockMegahertz,
     "cycles of a multiprocessor in a microsecond"},
    {"operations", &MachineModel::operations,
     "on 32 bits that a multiprocessor does in a cycle"},
    {"wide_operations", &MachineModel::wideOperations,
     "on 64 bits that a multiprocessor does in a cycle"},
    {"memory_bytes", &MachineModel::memoryBytes,
     "that memory moves in a cycle of a multiprocessor"},
    {"sector_bytes", &MachineModel::sectorBytes,
     "that memory moves at least for an element"},
    {"launch_cycles", &MachineModel::launchCycles,
     "of a multiprocessor, from one kernel to the next"},
};

std::span<const MachineField> machineFields() { return fields; }

MachineModel measuredMachine() {
  return {.multiprocessors = 132,
          .clockMegahertz = 1980,
          .operations = 128,
          .wideOperations = 64,
          .memoryBytes = 2400,
          .sectorBytes = 32,
          .launchCycles = 4000};
}

// Arithmetic of loops that are in the first-level cache; memory's share of a
// core where all of them read.
MachineModel coreMachine() {
  return {.multiprocessors = 1,
          .clockMegahertz = 2500,
          .operations = 16,
          .wideOperations = 8,
          .memoryBytes = 4,
          .sectorBytes = 64,
          .launchCycles = 5000};
}

static ErrorInfo refused(llvm::StringRef what) {
  std::string names = llvm::join(
      llvm::map_range(fields,
                      [](const MachineField &field) { return field.name; }),
      ", ");
  return makeError(
      ErrorKind::invalid_argument,
      llvm::formatv("a machine is stated as {{NAME=NUMBER+...}, of "
                    "{0}: {1}",
                    names, what)
          .str());
}

Result<MachineModel> parseMachine(std::string_view text,
                                  const MachineModel &usual) {
  constexpr int64_t most = int64_t{1} << 40;
  llvm::StringRef rest = text;
  if (!rest.consume_front("{") || !rest.consume_back("}"))
    return refused(llvm::formatv("'{0}'", rest).str());
  MachineModel model = usual;
  llvm::SmallVector<llvm::StringRef> parts;
  rest.split(parts, '+');
  for (llvm::StringRef part : parts) {
    auto [name, digits] = part.split('=');
    const auto *field = llvm::find_if(
        fields, [&](const MachineField &each) { return name == each.name; });
    if (field == std::end(fields))
      return refused(llvm::formatv("there is no '{0}'", name).str());
    int64_t number = 0;
    if (digits.getAsInteger(10, number) || number < 1 || number > most)
      return refused(
          llvm::formatv("'{0}' of {1} is no positive number", digits, name)
              .str());
    model.*field->value = number;
  }
  return model;
}

} // namespace sinter::compiler
