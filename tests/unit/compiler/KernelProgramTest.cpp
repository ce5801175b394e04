/// One kernel by itself: its tiles, and the program that launches it.
#include "compiler/Compiler.h"

#include "runtime/program/ModelReader.h"
#include "runtime/program/VerifyProgram.h"
#include "tests/unit/compiler/Graphs.h"

#include <gtest/gtest.h>

#include <set>

using namespace sinter;
using namespace sinter::test;
using compiler::ModelBytes;

namespace {

/// Rows are a symbol.
constexpr const char *layer = R"(
func.func @main(%x: tensor<?xDEPTHxELEMENT, affine_map<()[s0] -> (s0, DEPTH)>>,
    %w: tensor<DEPTHx1024xELEMENT>)
    -> tensor<?x1024xELEMENT, affine_map<()[s0] -> (s0, 1024)>>
    attributes {sinter.num_symbols = 1 : i64} {
  %0 = sinter.matmul %x, %w : (
      tensor<?xDEPTHxELEMENT, affine_map<()[s0] -> (s0, DEPTH)>>,
      tensor<DEPTHx1024xELEMENT>)
      -> tensor<?x1024xELEMENT, affine_map<()[s0] -> (s0, 1024)>>
  return %0 : tensor<?x1024xELEMENT, affine_map<()[s0] -> (s0, 1024)>>
})";

void replaceAll(std::string &text, const std::string &from,
                const std::string &to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from))
    text.replace(at, from.size(), to);
}

/// Of a k so short that of f32, too, one tile serves any number of rows.
std::string layerOf(const std::string &element) {
  std::string text = layer;
  replaceAll(text, "ELEMENT", element);
  replaceAll(text, "DEPTH", element == "f32" ? "8" : "512");
  return text;
}

runtime::ProgramData programOf(const ModelBytes &bytes) {
  runtime::ModelFile model = get(runtime::readModel(bytes));
  return get(runtime::verifyProgram(model, 0));
}

runtime::KernelData kernelOf(const std::string &text,
                             const compiler::Options &options) {
  return programOf(get(compiler::compileText(text, options))).kernels.at(0);
}

struct Case {
  const char *target, *element;
  size_t leastTiles;
};
constexpr Case cases[] = {{"cpu", "f32", 0},
                          {"cuda:sm_90", "f32", 2},
                          {"cuda:sm_90", "bf16", 2},
                          {"vulkan:h200", "f32", 2},
                          {"vulkan:h200", "f16", 2}};

TEST(KernelProgram, HasSymbolsAndEachTile) {
  for (const auto &[target, element, leastTiles] : cases) {
    compiler::Options options;
    options.target = target;
    runtime::KernelData kernel = kernelOf(layerOf(element), options);
    EXPECT_EQ(kernel.tile, "");
    std::vector<std::string> tiles =
        get(compiler::kernelTiles(kernel.text, options));
    EXPECT_GE(tiles.size(), leastTiles) << target << " " << element;
    std::set<ModelBytes> programs;
    for (const std::string &tile : tiles) {
      options.tiles = {{kernel.name, tile}};
      ModelBytes bytes = get(compiler::compileKernel(kernel.text, options));
      programs.insert(bytes);
      runtime::ProgramData program = programOf(bytes);
      ASSERT_EQ(program.inputs.size(), 3u) << "the symbol, then x and w";
      EXPECT_EQ(program.inputs[0].dtype, DType::u8);
      EXPECT_EQ(program.numSymbols, 1u);
      EXPECT_EQ(program.kernels.at(0).name, kernel.name);
      std::string asked = tile == tiles.front() ? "" : tile;
      EXPECT_EQ(program.kernels.at(0).tile, asked);
      EXPECT_EQ(kernelOf(layerOf(element), options).tile, asked);
    }
    EXPECT_EQ(programs.size(), tiles.size());
  }
}

TEST(KernelProgram, WhatIsNotThereIsAnError) {
  compiler::Options options;
  options.target = "cuda:sm_90";
  runtime::KernelData kernel = kernelOf(layerOf("f32"), options);
  options.tiles = {{kernel.name, "none"}};
  auto unknownTile = compiler::compileText(layerOf("f32"), options);
  ASSERT_FALSE(unknownTile);
  EXPECT_NE(unknownTile.error().message.find("has no tile 'none'"),
            std::string::npos)
      << unknownTile.error().message;
  options.tiles = {{"nobody", "none"}};
  auto unknownKernel = compiler::compileKernel(kernel.text, options);
  ASSERT_FALSE(unknownKernel);
  EXPECT_EQ(unknownKernel.error().kind, ErrorKind::invalid_argument);
  for (const char *text : {"", "program.kernel", "func.func private @f()"})
    EXPECT_FALSE(compiler::kernelTiles(text, {})) << text;
}

} // namespace
