#include "runtime/tune/TileContest.h"

#include "sinter/runtime/Log.h"
#include "tests/unit/tune/TwoTiles.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

constexpr uint8_t exact = 0, standard = 1;

std::string winner(const std::vector<std::string> &tiles, uint8_t numerics) {
  TwoTiles compiler(tiles);
  auto device = getDevice({});
  CompileRequest request;
  request.numerics = numerics;
  auto found = fastestTile({"contraction_1", "x + y", tiles, {1 << 18}},
                           **device, request, std::chrono::seconds(2));
  return found ? *found : found.error().message;
}

template <typename T>
bool areAlike(std::vector<T> a, std::vector<T> b, DType dtype,
              int64_t depth = 1) {
  return agree(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), dtype,
               depth);
}

} // namespace

TEST(TileContest, TheFastestWins) {
  EXPECT_EQ(winner({"slow", "fast"}, standard), "fast");
  EXPECT_EQ(winner({"slow", "fast"}, exact), "fast");
  EXPECT_EQ(winner({"fast", "slow"}, standard), "fast");
}

TEST(TileContest, OnlyAnotherGainIsTaken) {
  EXPECT_EQ(winner({"slow", "slow"}, standard), "slow");
}

TEST(TileContest, WrongOnesAreLeftOut) {
  uint64_t before = warningCount();
  EXPECT_EQ(winner({"slow", "wrong"}, standard), "slow");
  EXPECT_EQ(winner({"slow", "missing"}, standard), "slow");
  EXPECT_EQ(warningCount(), before + 2);
}

TEST(TileContest, ExactTakesEqualBitsOnly) {
  EXPECT_EQ(winner({"slow", "near"}, standard), "near");
  EXPECT_EQ(winner({"slow", "near"}, exact), "slow");
}

TEST(TileContest, TheFirstHasToRun) {
  EXPECT_EQ(winner({"missing", "fast"}, standard), "there is none");
}

TEST(TileContest, NumbersAgreeWithinRoundings) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(areAlike<float>({1, NAN, infinity}, {1 + 0x1p-22f, NAN, infinity},
                              DType::f32));
  EXPECT_FALSE(areAlike<float>({1}, {1 + 0x1p-19f}, DType::f32));
  // A long sum, and one beside larger numbers.
  EXPECT_TRUE(areAlike<float>({1}, {1 + 0x1p-19f}, DType::f32, 1 << 10));
  EXPECT_TRUE(areAlike<float>({1, 8}, {1 + 0x1p-19f, 8}, DType::f32));
  EXPECT_FALSE(areAlike<float>({1}, {NAN}, DType::f32));
  EXPECT_FALSE(areAlike<float>({1}, {infinity}, DType::f32));
  EXPECT_FALSE(areAlike<float>({infinity}, {-infinity}, DType::f32));
  EXPECT_FALSE(areAlike<float>({1, 1}, {1}, DType::f32));
  EXPECT_TRUE(areAlike<int32_t>({1, 2}, {1, 2}, DType::i32));
  EXPECT_FALSE(areAlike<int32_t>({1, 2}, {1, 3}, DType::i32));
}
