/// LoadedProgram: what Program::load makes; the executor reads its fields.
#pragma once

#include "runtime/files/FileBytes.h"
#include "runtime/program/Bind.h"
#include "runtime/program/BoundPlan.h"
#include "runtime/program/ConstantPool.h"
#include "runtime/program/PreparedBuffers.h"
#include "runtime/program/Program.h"
#include "runtime/program/ProgramData.h"
#include "runtime/program/Recording.h"
#include "runtime/support/Fork.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

class LoadedProgram final : public Program {
public:
  /// `path` stands before the errors of what is read later, unless empty.
  LoadedProgram(std::shared_ptr<const FileBytes> file, Device &device,
                std::string path = {})
      : file(std::move(file)), path(std::move(path)), target(&device) {}

  /// Reads the program of an entry of the file; called once, before the program
  /// is shared.
  Status load(uint32_t entry);

  Device &device() const override { return *target; }
  std::span<const Port> inputs() const override { return data.inputs; }
  std::span<const Port> outputs() const override { return data.outputs; }
  std::span<const Expr> exprs() const override { return data.exprs; }
  uint32_t numSymbols() const override { return data.numSymbols; }
  std::span<const Decision> decisions() const override {
    return data.decisions;
  }
  std::vector<LaunchInfo> launches() const override { return launchesOf(data); }
  std::string_view siteOf(uint32_t node) const override;
  std::string_view graphText() const override { return graph; }
  std::string_view choice() const override { return choiceText; }
  size_t residentBytes() const override { return resident; }

  const ProgramData &program() const { return data; }
  const DimBinder &dimBinder() const { return *binder; }
  /// Makes the constants usable, once; then `constant` gives their addresses
  /// in the device's memory.
  Status prepareConstants() const;
  void *constant(uint32_t index) const { return pool.address(index); }
  PreparedBuffers &prepared() const { return preparedBuffers; }
  RecordedRuns &recorded() const { return recordedRuns; }
  /// The plan for these symbols: remembered, or made now.
  Result<std::shared_ptr<const BoundPlan>>
  planFor(std::span<const int64_t> symbols) const;

private:
  Status resolveSymbols();
  /// The error of an image, with the node and line of the kernel it is of.
  ErrorInfo ofKernel(ErrorInfo error) const;

  static constexpr size_t maxPlans = 64;

  std::shared_ptr<const FileBytes> file;
  std::string path;
  Device *target;
  ProgramData data;
  std::unique_ptr<Image> image;
  std::optional<DimBinder> binder;
  mutable ConstantPool pool;
  mutable PreparedBuffers preparedBuffers;
  mutable RecordedRuns recordedRuns; ///< of kernels of the image
  std::string choiceText;
  std::string_view graph;
  std::vector<std::string> sites;
  size_t resident = 0;
  mutable ForkMutex plansMutex;
  mutable std::vector<std::shared_ptr<const BoundPlan>> plans; ///< newest last
};

/// As Program::load. `path`, unless empty, stands before errors.
Result<std::shared_ptr<const Program>>
loadProgram(FileBytes file, Device &device, const std::string &path = {});
/// The program of one of the file's entries (ModelInfo), which shares the bytes
/// with others.
Result<std::shared_ptr<const Program>>
loadEntry(std::shared_ptr<const FileBytes> file, uint32_t entry, Device &device,
          const std::string &path = {});

} // namespace sinter::runtime
