#include "tests/unit/tune/TwoTiles.h"

#include "tests/unit/program/ProgramBuilder.h"

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

constexpr const char *name = "contraction_1";
std::vector<std::string> tiles;

/// x + y, in the way of a tile.
struct Sum : ProgramBuilder {
  explicit Sum(const std::string &tile, bool hasSymbolInput) {
    uint32_t n = symbol(0);
    if (hasSymbolInput)
      input("s0", {n}, graph::InputKind::data, DType::u8);
    uint32_t x = input("x", {n}), y = input("y", {n}), out = output({n});
    uint32_t add = kernel(name, 2, 1, 1, {"add"});
    program.kernels[add]->kind = "contraction";
    program.kernels[add]->text = "x + y";
    if (tile == "wrong") {
      launch(kernel("scale", 2, 1, 1, {"scale"}), {x, y, out}, {n});
    } else if (tile == "near") {
      const float factor = 1 + 0x1p-23f;
      auto bytes = std::as_bytes(std::span(&factor, 1));
      constants.assign(bytes.begin(), bytes.end());
      uint32_t sum = temp(times(n, constant(4)), 0, 1);
      launch(add, {x, y, sum}, {n});
      launch(kernel("scale", 2, 1, 1, {"scale"}),
             {sum, constantData(0, 4), out}, {n});
    } else {
      for (int i = 0; i < (tile == "slow" ? 50 : 1); ++i)
        launch(add, {x, y, out}, {n});
    }
  }
};

Result<std::vector<std::string>> kernelTiles(std::string_view,
                                             const CompileRequest &) {
  return tiles;
}

Result<std::vector<std::byte>> compileKernel(std::string_view,
                                             const CompileRequest &request) {
  ++TwoTiles::asked().kernels;
  std::string tile =
      request.tiles.empty() ? tiles.front() : request.tiles.front().tile;
  if (tile == "missing")
    return makeError(ErrorKind::compile, "there is none");
  return Sum(tile, /*hasSymbolInput=*/true).file();
}

std::string_view digest() { return "digest"; }

} // namespace

TwoTiles::TwoTiles(std::vector<std::string> given) {
  static const CompilerHook hook = [] {
    CompilerHook made = {};
    made.digest = digest;
    made.kernelTiles = kernelTiles;
    made.compileKernel = compileKernel;
    return made;
  }();
  tiles = std::move(given);
  asked() = {};
  registerCompiler(&hook);
}

TwoTiles::~TwoTiles() { registerCompiler(nullptr); }

Asked &TwoTiles::asked() {
  static Asked counters;
  return counters;
}

Result<std::vector<std::byte>>
TwoTiles::compile(const CompileRequest &request) {
  ++asked().programs;
  asked().tiles = request.tiles;
  return Sum("fast", /*hasSymbolInput=*/false).file();
}
