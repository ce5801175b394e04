/// From the bytes of a file to a program ready to run.
#include "runtime/program/LoadedProgram.h"

#include "runtime/program/ChooseProgram.h"
#include "runtime/program/ModelError.h"
#include "runtime/program/ModelInfo.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/VerifyProgram.h"
#include "runtime/support/Flags.h"
#include "runtime/support/WorkTimes.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <utility>

using namespace sinter;
using namespace sinter::runtime;

/// The programs of an entry. A file without entries is not looked into.
static Result<std::vector<uint32_t>> programsOf(const ModelFile &model,
                                                uint32_t entry) {
  std::vector<uint32_t> programs(model.count(SectionKind::program));
  std::iota(programs.begin(), programs.end(), 0);
  size_t numEntries = 1;
  if (model.find(SectionKind::model)) {
    SINTER_TRY_ASSIGN(ModelInfo info, readModelInfo(model));
    numEntries = info.entries.size();
    if (entry < numEntries)
      programs = std::move(info.entries[entry].programs);
  }
  if (entry >= numEntries)
    return makeError(
        ErrorKind::invalid_argument,
        fmt::format("model file: entry {} of {}", entry, numEntries));
  return programs;
}

Status LoadedProgram::load(uint32_t entry) {
  WorkTimer timer(Work::loading);
  SINTER_TRY_ASSIGN(ModelFile model,
                    readModel(file->bytes(), ModelCheck::untilUse));
  SINTER_TRY_ASSIGN(std::vector<uint32_t> programs, programsOf(model, entry));
  SINTER_TRY_ASSIGN(ProgramChoice taken,
                    chooseProgram(model, programs, *target));
  uint32_t chosen = taken.index;
  choiceText = std::move(taken.text);
  SINTER_TRY_ASSIGN(data, verifyProgram(model, chosen));
  SINTER_TRY_ASSIGN(binder, DimBinder::make(data));
  graph = model.textOf(SectionKind::graph, entry);
  if (const Section *debug = model.find(SectionKind::debug, entry)) {
    SINTER_TRY_ASSIGN(sites, readSites(debug->bytes));
  }
  pool.open(model, data, *target);
  const Section *code = model.find(SectionKind::image, chosen);
  if (!data.kernels.empty()) {
    auto loaded = target->loadImage(code->bytes);
    if (!loaded)
      return ofKernel(loaded.takeError());
    image = *std::move(loaded);
    SINTER_TRY(resolveSymbols());
  }
  resident = file->bytes().size() + code->bytes.size();
  return {};
}

/// An error about a file, with its name.
static ErrorInfo inFile(const std::string &path, ErrorInfo error) {
  if (!path.empty())
    error.message = path + ": " + error.message;
  return error;
}

Status LoadedProgram::prepareConstants() const {
  if (Status prepared = pool.prepare(); !prepared)
    return inFile(path, prepared.takeError());
  return {};
}

Status LoadedProgram::resolveSymbols() {
  for (KernelData &kernel : data.kernels)
    for (PhaseData &phase : kernel.phases) {
      phase.function = image->find(phase.symbol);
      if (!phase.function)
        return brokenModel("the image lacks `{}` of kernel {}", phase.symbol,
                           kernel.name);
    }
  return {};
}

std::string_view LoadedProgram::siteOf(uint32_t node) const {
  return node < sites.size() ? std::string_view(sites[node])
                             : std::string_view();
}

// A device knows kernels by their symbols alone.
ErrorInfo LoadedProgram::ofKernel(ErrorInfo error) const {
  std::string symbol = std::exchange(error.op, {});
  if (symbol.empty())
    return error;
  std::vector<bool> isOf;
  for (const KernelData &kernel : data.kernels)
    isOf.push_back(
        std::ranges::count(kernel.phases, symbol, &PhaseData::symbol) > 0);
  auto step = std::ranges::find_if(data.steps, [&](const StepData &each) {
    return each.isLaunch() && !each.nodes.empty() && isOf[each.kernel];
  });
  if (step == data.steps.end())
    return error;
  error.node = step->nodes.back();
  if (std::string_view site = siteOf(error.node); !site.empty())
    error.message += fmt::format("; the kernel is of {}", site);
  return error;
}

/// For places of their own, where steps of a graph run at once. Steps that need
/// more fill the device one at a time, and where memory has a limit, programs
/// may be made to fit it.
static uint64_t spareBytes(const Device &device) {
  constexpr uint64_t most = uint64_t(32) << 20, part = 1024;
  if (!device.hasGraphs() || flags().memoryLimit > 0)
    return 0;
  return std::min(most, device.memoryInfo().total / part);
}

Result<std::shared_ptr<const BoundPlan>>
LoadedProgram::planFor(std::span<const int64_t> symbols) const {
  {
    std::lock_guard lock(plansMutex);
    for (auto plan = plans.rbegin(); plan != plans.rend(); ++plan)
      if (std::ranges::equal((*plan)->symbols, symbols))
        return *plan;
  }
  MemoryRoom room{spareBytes(*target), target->mostAllocation()};
  SINTER_TRY_ASSIGN(auto made, BoundPlan::make(data, symbols, room));
  std::lock_guard lock(plansMutex);
  if (plans.size() == maxPlans)
    plans.erase(plans.begin());
  plans.push_back(made);
  return made;
}

Result<std::shared_ptr<const Program>>
sinter::runtime::loadProgram(FileBytes file, Device &device,
                             const std::string &path) {
  return loadEntry(std::make_shared<FileBytes>(std::move(file)), 0, device,
                   path);
}

Result<std::shared_ptr<const Program>>
sinter::runtime::loadEntry(std::shared_ptr<const FileBytes> file,
                           uint32_t entry, Device &device,
                           const std::string &path) {
  auto program = std::make_shared<LoadedProgram>(std::move(file), device, path);
  if (Status loaded = program->load(entry); !loaded)
    return inFile(path, loaded.takeError());
  return std::shared_ptr<const Program>(std::move(program));
}

Result<std::shared_ptr<const Program>>
Program::load(std::span<const std::byte> file, Device &device) {
  SINTER_TRY_ASSIGN(FileBytes bytes, FileBytes::copyOf(file));
  return loadProgram(std::move(bytes), device);
}

Result<std::shared_ptr<const Program>>
Program::loadFile(const std::string &path, Device &device) {
  SINTER_TRY_ASSIGN(MappedFile mapped, MappedFile::open(path));
  return loadProgram(FileBytes(std::move(mapped)), device, path);
}
