/// Feeds altered model files to the loader: a fixed part and a fresh seed.
#include "runtime/program/ModelReader.h"
#include "tests/unit/program/FileMutator.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

/// Loads; when that works, binds and sizes too. Neither may crash.
void tryFile(std::span<const std::byte> file) {
  Device &cpu = **getDevice({DeviceKind::cpu, 0});
  auto program = Program::load(file, cpu);
  if (!program) {
    EXPECT_FALSE(program.error().message.empty());
    return;
  }
  for (int64_t n : {0, 1, 300}) {
    std::vector<Binding> inputs;
    for (const Port &port : (*program)->inputs())
      inputs.push_back(bind({}, std::vector<int64_t>(port.dims.size(), n)));
    if (!peakBytes(**program, inputs))
      continue;
  }
  (void)(*program)->launches();
}

void fuzz(uint64_t seed, int count) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (auto *make : {scaleProgram, fullProgram, loopProgram,
                     +[] { return conditionalProgram(); }}) {
    std::vector<std::byte> file = make().file();
    for (int i = 0; i < count; ++i)
      tryFile(mutateModel(file, seed + uint64_t(i)));
  }
}

} // namespace

TEST(LoadFuzz, fixedSeeds) { fuzz(1, 3000); }

TEST(LoadFuzz, freshSeed) {
  std::random_device device;
  uint64_t seed = uint64_t(device()) << 32 | device();
  fuzz(seed, 2000);
}

TEST(LoadFuzz, bareBytes) {
  std::mt19937_64 random(3);
  std::vector<std::byte> file = scaleProgram().file();
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> altered = file;
    for (uint64_t flips = random() % 8 + 1; flips > 0; --flips)
      altered[random() % altered.size()] = std::byte(random());
    altered.resize(random() % 4 ? altered.size()
                                : random() % (altered.size() + 1));
    tryFile(altered);
  }
}
