#include "runtime/program/BoundPlan.h"
#include "runtime/program/LoadedProgram.h"
#include "tests/unit/program/ProgramBuilder.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

/// Four additions in a row through three temporaries of 4 n bytes.
ProgramBuilder chainProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0), bytes = b.times(n, b.constant(4));
  uint32_t from = b.input("x", {n});
  uint32_t out = b.output({n});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  for (uint32_t step = 0; step < 4; ++step) {
    uint32_t to = step < 3 ? b.temp(bytes, step, step + 1) : out;
    b.launch(add, {from, from, to}, {n});
    from = to;
  }
  return b;
}

} // namespace

TEST(BoundPlan, givesPlacesOfTheirOwnWhereThereIsRoom) {
  auto loaded =
      Program::load(chainProgram().file(), **getDevice({DeviceKind::cpu, 0}));
  ASSERT_TRUE(loaded) << loaded.error().message;
  const ProgramData &program =
      static_cast<const LoadedProgram &>(**loaded).program();
  constexpr int64_t n = 1024;
  constexpr uint64_t each = 4 * n, room = 3 * (each + 256);
  auto arenaWith = [&](uint64_t spare) {
    auto plan = BoundPlan::make(program, std::vector<int64_t>{n},
                                MemoryRoom{.spare = spare});
    EXPECT_TRUE(plan);
    return (*plan)->arenaBytes();
  };
  EXPECT_EQ(arenaWith(0), 2 * each); // the third takes the first one's place
  EXPECT_EQ(arenaWith(room - 1), 2 * each);
  EXPECT_EQ(arenaWith(room), 3 * each);
}
