/// Model files with altered fields: whatever they say, they are refused or run
/// within their memory, at once. SINTER_TEST_SEEDS sets how many are tried.
#include "tests/unit/program/FieldMutator.h"
#include "tests/unit/program/ModelBuilder.h"
#include "tests/unit/program/ProgramBuilder.h"
#include "tests/unit/program/TouchDevice.h"

#include "runtime/graph/Elements.h"
#include "runtime/model/Session.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/program/ModelReader.h"
#include "runtime/program/VerifyProgram.h"
#include "runtime/program/WeightStore.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <iterator>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

using Clock = std::chrono::steady_clock;

int64_t seedCount() {
  const char *text = std::getenv("SINTER_TEST_SEEDS");
  return text ? std::strtoll(text, nullptr, 10) : 3000;
}

/// What a caller spends on inputs of gigabytes, which a file may ask for, is no
/// time of the runtime's.
Clock::duration fillingTime{};

/// Bindings of the dims that the program's own expressions have for `extent`;
/// with memory where `device` has some to give.
std::vector<Binding> bindingsFor(const Program &program, int64_t extent,
                                 Device *device) {
  std::vector<int64_t> symbols(program.numSymbols(), extent), values;
  evaluateAll(program.exprs(), symbols, values);
  std::vector<Binding> bindings;
  for (const Port &port : program.inputs()) {
    Binding binding;
    for (uint32_t dim : port.dims)
      binding.dims.push_back(values[dim]);
    std::optional<size_t> count = elementsOf(binding.dims);
    if (device && count && port.kind != graph::InputKind::scalar)
      if (auto buffer = device->allocate(*count * byteWidth(port.dtype))) {
        binding.buffer = *buffer;
        auto begin = Clock::now();
        std::memset((*buffer)->data(), 0, (*buffer)->bytes());
        fillingTime += Clock::now() - begin;
      }
    binding.donate = extent % 2 == 0;
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

void expectTold(const ErrorInfo &error) { EXPECT_FALSE(error.message.empty()); }

/// How far the altered files came.
struct Counts {
  uint64_t tried = 0, loaded = 0, ran = 0;
};

constexpr int64_t extents[] = {0, 1, 4, 300};

/// Every program of a file is sized, for whichever device it is.
void sizeAll(std::span<const std::byte> file) {
  auto model = readModel(file);
  if (!model)
    return expectTold(model.error());
  for (uint32_t i = 0; i < model->count(SectionKind::program); ++i) {
    auto program = verifyProgram(*model, i);
    if (!program)
      continue;
    auto binder = DimBinder::make(*program);
    for (int64_t extent : extents) {
      std::vector<int64_t> symbols(program->numSymbols, extent);
      auto plan = BoundPlan::make(*program, symbols);
      if (!plan)
        expectTold(plan.error());
      else
        EXPECT_LE(peakOf(*program, **plan).step, program->steps.size());
    }
    if (!binder)
      expectTold(binder.error());
  }
}

/// Binds, sizes, and runs where `runs`.
void tryProgram(const Result<std::shared_ptr<const Program>> &program,
                Device &device, bool runs, Counts &counts) {
  ++counts.tried;
  if (!program)
    return expectTold(program.error());
  ++counts.loaded;
  for (int64_t extent : extents) {
    auto peak = peakMemory(**program, bindingsFor(**program, extent, nullptr));
    if (!peak)
      expectTold(peak.error());
    if (!runs)
      continue;
    auto outputs = run(**program, bindingsFor(**program, extent, &device));
    if (outputs)
      EXPECT_EQ(outputs->size(), (*program)->outputs().size());
    else
      expectTold(outputs.error());
    counts.ran += outputs.ok();
  }
  (void)(*program)->launches();
  (void)(*program)->siteOf(0);
}

/// Loads on a device; binds, sizes, and runs where `runs`.
void tryFile(std::span<const std::byte> file, Device &device, bool runs,
             Counts &counts) {
  tryProgram(Program::load(file, device), device, runs, counts);
}

/// Reads every tensor and draw of a model, and tries each of its entries.
void tryModel(std::span<const std::byte> file, Device &device, Counts &counts) {
  auto model = readModel(file);
  if (!model)
    return ++counts.tried, expectTold(model.error());
  auto info = readModelInfo(*model);
  if (!info)
    return ++counts.tried, expectTold(info.error());
  WeightStore store(*model, *info, "");
  for (uint32_t i = 0; i < store.size(); ++i) {
    auto bytes = store.bytesOf(i);
    if (!bytes) {
      expectTold(bytes.error());
      continue;
    }
    EXPECT_EQ(bytes->size(), info->tensors[i].bytes);
    if (!bytes->empty()) { // is there to its last byte
      volatile auto first = bytes->front(), last = bytes->back();
      (void)first, (void)last;
    }
  }
  auto bytes = std::make_shared<const FileBytes>(*FileBytes::copyOf(file));
  for (uint32_t entry = 0; entry < info->entries.size(); ++entry) {
    tryProgram(loadEntry(bytes, entry, device), device, true, counts);
    std::vector<std::vector<int64_t>> dims(info->entries[entry].inputs.size(),
                                           {300, 4});
    if (auto draws = randomDraws(info->entries[entry], dims); !draws)
      expectTold(draws.error());
  }
}

/// Sizes and runs the entries that callers see, with all of their parts.
void trySessions(std::span<const std::byte> file, Device &device,
                 Counts &counts) {
  ++counts.tried;
  auto model =
      Model::openMemory(file, {.device = &device, .mayCompile = false});
  if (!model)
    return expectTold(model.error());
  Session session(*model);
  for (uint32_t entry = 0; entry < (*model)->info().numPublic(); ++entry) {
    if (Status ready = session.prepare(entry); !ready) {
      expectTold(ready.error());
      continue;
    }
    ++counts.loaded;
    for (int64_t extent : extents) {
      std::vector<Binding> all =
          bindingsFor(session.program(entry), extent, &device);
      const std::vector<uint32_t> &given = (*model)->ports(entry).given;
      for (size_t i = 0; i < given.size(); ++i)
        session.input(entry, i) = all[given[i]];
      if (auto memory = session.memory(entry); !memory)
        expectTold(memory.error());
      Status done = session.run(entry);
      if (!done)
        expectTold(done.error());
      counts.ran += done.ok();
      session.unbind(entry);
    }
  }
}

using File = std::vector<std::byte>;

std::vector<File> filesWithKernels() {
  return {scaleProgram().file(), fullProgram().file(), loopProgram().file(),
          conditionalProgram().file(), gatherProgram().file()};
}

/// Tries each seed on each file.
template <typename Try>
void tryAll(const std::vector<File> &files, MutatedParts parts, Try tryOne) {
  int64_t each = std::max<int64_t>(1, seedCount() / int64_t(files.size()));
  for (int64_t seed = 0; seed < each; ++seed)
    for (size_t i = 0; i < files.size(); ++i) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " of file " +
                   std::to_string(i));
      fillingTime = {};
      auto begin = Clock::now();
      tryOne(mutateFields(files[i], uint64_t(seed), parts));
      ASSERT_LT(Clock::now() - begin - fillingTime, std::chrono::seconds(20));
    }
}

/// Alterations that nothing gets through would test the first check alone.
void expectDeep(const Counts &counts) {
  EXPECT_GT(counts.loaded * 10, counts.tried);
  EXPECT_GT(counts.ran * 10, counts.tried);
  testing::Test::RecordProperty("loaded", std::to_string(counts.loaded));
  testing::Test::RecordProperty("ran", std::to_string(counts.ran));
}

} // namespace

TEST(Mutation, filesAsTheyAreRun) {
  TouchDevice touch;
  Counts counts;
  for (const File &file : filesWithKernels())
    tryFile(file, touch, true, counts);
  EXPECT_GE(counts.ran, 12u); // not all take inputs without elements
  Device &null = **getDevice({DeviceKind::null, 0});
  Counts copies;
  tryFile(copyProgram().file(), null, true, copies);
  EXPECT_EQ(copies.ran, std::size(extents));
}

TEST(Mutation, anyPartIsLoadedAndSized) {
  TouchDevice touch;
  std::vector<File> files = filesWithKernels();
  std::vector<File> two = {fullProgram().file(), copyProgram().file()};
  files.push_back(*joinModels(two));
  Counts counts;
  tryAll(files, MutatedParts::all, [&](std::span<const std::byte> file) {
    tryFile(file, touch, /*runs=*/false, counts);
    sizeAll(file);
  });
  EXPECT_GT(counts.loaded * 10, counts.tried);
}

TEST(Mutation, modelsAreReadLoadedAndRun) {
  TouchDevice touch;
  Counts counts;
  tryModel(smallModel().file(), touch, counts);
  EXPECT_EQ(counts.loaded, 3u);
  tryAll(
      {smallModel().file()}, MutatedParts::exceptKernels,
      [&](std::span<const std::byte> file) { tryModel(file, touch, counts); });
  expectDeep(counts);
  Device &null = **getDevice({DeviceKind::null, 0});
  Counts copies;
  tryAll(
      {copyModel().file()}, MutatedParts::all,
      [&](std::span<const std::byte> file) { tryModel(file, null, copies); });
  expectDeep(copies);
}

TEST(Mutation, partsPassOnlyWhatTheyGave) {
  Device &null = **getDevice({DeviceKind::null, 0});
  Counts counts;
  trySessions(partsModel().file(), null, counts);
  EXPECT_EQ(counts.ran, std::size(extents));
  tryAll({partsModel().file()}, MutatedParts::all,
         [&](std::span<const std::byte> file) {
           trySessions(file, null, counts);
         });
  expectDeep(counts);
}

TEST(Mutation, copiesRunOnTheNullDevice) {
  Device &null = **getDevice({DeviceKind::null, 0});
  Counts counts;
  tryAll({copyProgram().file()}, MutatedParts::all,
         [&](std::span<const std::byte> file) {
           tryFile(file, null, true, counts);
         });
  expectDeep(counts);
}

TEST(Mutation, kernelsTouchTheirBuffersOnly) {
  TouchDevice touch;
  Counts counts;
  tryAll(filesWithKernels(), MutatedParts::exceptKernels,
         [&](std::span<const std::byte> file) {
           tryFile(file, touch, true, counts);
         });
  expectDeep(counts);
}

TEST(Mutation, kernelsRunOnTheProcessor) {
  Device &cpu = **getDevice({DeviceKind::cpu, 0});
  Counts counts;
  tryAll(filesWithKernels(), MutatedParts::exceptKernels,
         [&](std::span<const std::byte> file) {
           tryFile(file, cpu, true, counts);
         });
  expectDeep(counts);
}
