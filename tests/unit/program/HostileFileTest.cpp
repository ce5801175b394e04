/// Files that are well formed and ask for too much: each ends in an error, at
/// once and without memory.
#include "tests/unit/program/ProgramBuilder.h"

#include "runtime/program/VerifyModel.h"
#include "runtime/program/VerifyProgram.h"

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <sys/resource.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

using B = ProgramBuilder;
using Clock = std::chrono::steady_clock;

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

fb::LaunchT &launchAt(B &b, size_t step) {
  return *b.program.steps[step]->step.AsLaunch();
}

/// The error of loading a file, or of sizing it for inputs of these extents.
std::string failure(const B &b, std::vector<std::vector<int64_t>> dims) {
  auto program = Program::load(b.file(), cpu());
  if (!program)
    return program.error().message;
  std::vector<Binding> inputs;
  for (std::vector<int64_t> &each : dims)
    inputs.push_back(bind({}, std::move(each)));
  auto bytes = peakBytes(**program, inputs);
  return bytes ? "" : bytes.error().message;
}

std::string failure(const std::function<void(B &)> &change) {
  B b = fullProgram();
  change(b);
  return failure(b, {{300}, {}});
}

/// Fails when `work` takes long; sanitizers are slow.
void expectQuick(const std::function<void()> &work) {
  auto begin = Clock::now();
  work();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(8));
}

/// Bytes that the process grew by, at most.
int64_t growth(const std::function<void()> &work) {
  auto mostSoFar = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return int64_t(usage.ru_maxrss) << 10;
  };
  int64_t before = mostSoFar();
  work();
  return mostSoFar() - before;
}

/// A file of one program section, made part by part.
std::vector<std::byte>
fileOf(const std::function<void(flatbuffers::FlatBufferBuilder &)> &make) {
  flatbuffers::FlatBufferBuilder builder;
  make(builder);
  auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  ModelWriter writer;
  writer.addProgram(std::vector(data, data + builder.GetSize()), {});
  return *writer.finish();
}

} // namespace

//===- Numbers ------------------------------------------------------------===//

TEST(HostileFile, undoesAMinusOfTheLeastNumber) {
  B b;
  uint32_t minus = b.times(b.symbol(0), b.constant(-1));
  uint32_t x = b.input("x", {minus});
  uint32_t out = b.output({minus});
  b.copy(x, out, b.constant(0));
  EXPECT_EQ(failure(b, {{INT64_MIN}}),
            "input 'x': expected f32[s0*-1], got f32[-9223372036854775808]");
  EXPECT_EQ(failure(b, {{0}}), "");
}

TEST(HostileFile, remaindersDoNotOverflow) {
  std::vector<Expr> exprs = {{ExprOp::constant, 0, 0, INT64_MIN + 1},
                             {ExprOp::constant, 0, 0, (int64_t(1) << 62) + 1},
                             {ExprOp::mod, 0, 1, 0}};
  EXPECT_EQ(evaluate(exprs, 2, {}), 3);
  std::vector<int64_t> values;
  evaluateAll(exprs, {}, values);
  EXPECT_EQ(values[2], 3);
}

TEST(HostileFile, launchesStayInTheirBuffers) {
  EXPECT_EQ(failure([](B &b) { launchAt(b, 0).dims = {b.constant(301)}; }),
            "kernel map_scale: buffer 0 has 1200 bytes, the launch touches "
            "1204");
  EXPECT_EQ(
      failure([](B &b) { b.program.buffers[2]->bytes = b.constant(1199); }),
      "kernel map_scale: buffer 2 has 1199 bytes, the launch touches "
      "1200");
  EXPECT_EQ(failure([](B &b) {
              fb::KernelT &kernel = *b.program.kernels[0];
              kernel.exprs.emplace_back(uint8_t(ExprOp::constant), 0, 0, -1);
              kernel.buffer_bytes[0] = uint32_t(kernel.exprs.size() - 1);
            }),
            "kernel map_scale: buffer 0 has 1200 bytes, the launch touches "
            "more than can be counted");
  EXPECT_EQ(failure([](B &b) { b.program.kernels[0]->buffer_bytes.clear(); }),
            "model file: kernel map_scale: it tells the sizes of 0 buffers, it "
            "has 3 inputs and outputs");
}

TEST(HostileFile, launchesKeepWhatKernelsRelyOn) {
  // The symbol has to equal the chunk's elements.
  EXPECT_EQ(failure([](B &b) { b.program.kernels[0]->guards = {{0, 1}}; }),
            "kernel map_scale: dims of the launch do not fit together: s0 has "
            "to equal 256, they are 300 and 256");
  EXPECT_EQ(failure([](B &b) { b.program.kernels[0]->guards = {{0, 0}}; }), "");
  EXPECT_EQ(failure([](B &b) { b.program.kernels[0]->guards = {{0, 90}}; }),
            "model file: kernel map_scale: guard 0 names expr 90 of 11");
}

TEST(HostileFile, countsChunksAndLaunches) {
  EXPECT_EQ(failure([](B &b) {
              b.program.kernels[0]->exprs[2] = {uint8_t(ExprOp::constant), 0, 0,
                                                int64_t(1) << 40};
            }),
            "kernel map_scale: 1099511627776 chunks for 2408 bytes of buffers");
  B b;
  uint32_t four = b.constant(4), often = b.constant(INT32_MAX);
  uint32_t x = b.input("x", {}), out = b.output({});
  uint32_t spare = b.temp(four, 0, 1);
  uint32_t carry = b.moving(four, 0), next = b.moving(four, 0);
  b.loop(often, 1, {{carry, x, next, out, spare}}, {});
  b.copy(carry, next, four);
  EXPECT_EQ(failure(b, {{}}),
            "the run makes more than 16777216 launches and copies; "
            "SINTER_LAUNCH_LIMIT sets how many it may make");
}

//===- Memory that is not there -------------------------------------------===//

TEST(HostileFile, whatMovesIsMovedByItsLoop) {
  B b = loopProgram();
  uint32_t next = 6, bytes = b.program.steps[2]->step.AsCopy()->bytes;
  b.program.steps[0]->step.AsLoop()->steps = 3;
  b.program.buffers[4]->last = 3; // what the loop moves over lives as long
  b.copy(next, b.moving(bytes, 0), bytes);
  EXPECT_EQ(failure(b, {{3, 8}, {8}}),
            "model file: step 3 uses buffer 9, which no loop moves");
}

TEST(HostileFile, constantsShareNothing) {
  EXPECT_EQ(failure([](B &b) { b.constantData(0, 257); }),
            "model file: constants at 0 and 256 overlap");
  EXPECT_EQ(failure([](B &b) { b.constantData(256, 16); }), "");
}

//===- One part named again and again -------------------------------------===//

TEST(HostileFile, kernelsAreNotNamedAgainAndAgain) {
  constexpr size_t times = 100'000;
  auto file = fileOf([](flatbuffers::FlatBufferBuilder &builder) {
    auto text = builder.CreateString(std::string(100'000, 'x'));
    fb::KernelBuilder kernel(builder);
    kernel.add_text(text);
    kernel.add_num_outputs(1);
    auto one = kernel.Finish();
    auto kernels = builder.CreateVector(
        std::vector<flatbuffers::Offset<fb::Kernel>>(times, one));
    fb::ProgramBuilder program(builder);
    program.add_kernels(kernels);
    builder.Finish(program.Finish());
  });
  expectQuick([&] {
    int64_t grown = growth([&] {
      auto program = Program::load(file, cpu());
      ASSERT_FALSE(program);
      EXPECT_FALSE(program.error().message.empty());
    });
    EXPECT_LT(grown, (64 << 20) + 4 * int64_t(file.size()));
  });
}

TEST(HostileFile, listsAreNotNamedAgainAndAgain) {
  auto file = fileOf([](flatbuffers::FlatBufferBuilder &builder) {
    auto rule = builder.CreateString("rule");
    auto nodes = builder.CreateVector(std::vector<uint32_t>(100'000, 0));
    std::vector<flatbuffers::Offset<fb::Decision>> decisions;
    for (int i = 0; i < 10'000; ++i) {
      fb::DecisionBuilder decision(builder);
      decision.add_rule(rule);
      decision.add_nodes(nodes);
      decisions.push_back(decision.Finish());
    }
    auto list = builder.CreateVector(decisions);
    auto target = builder.CreateString("cpu");
    fb::ProgramBuilder program(builder);
    program.add_target(target);
    program.add_num_nodes(1);
    program.add_decisions(list);
    builder.Finish(program.Finish());
  });
  expectQuick([&] {
    auto program = Program::load(file, cpu());
    ASSERT_FALSE(program);
    EXPECT_NE(program.error().message.find("again and again"),
              std::string::npos)
        << program.error().message;
  });
}

TEST(HostileFile, linesAreNotNamedAgainAndAgain) {
  flatbuffers::FlatBufferBuilder builder;
  auto line = builder.CreateString(std::string(100'000, 'x'));
  auto sites = builder.CreateVector(
      std::vector<flatbuffers::Offset<flatbuffers::String>>(100'000, line));
  fb::DebugInfoBuilder debug(builder);
  debug.add_sites(sites);
  builder.Finish(debug.Finish());
  auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  auto read = readSites({data, builder.GetSize()});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message,
            "model file: the debug section names its lines again and again");
}

TEST(HostileFile, entriesAndTensorsAreNotNamedAgainAndAgain) {
  flatbuffers::FlatBufferBuilder builder;
  auto text = builder.CreateString(std::string(1'000'000, 'x'));
  auto name = builder.CreateString("x");
  fb::EntryInputBuilder input(builder);
  input.add_name(name);
  input.add_description(text);
  auto inputs =
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::EntryInput>>(
          100'000, input.Finish()));
  fb::EntryBuilder entry(builder);
  entry.add_name(name);
  entry.add_inputs(inputs);
  auto entries = builder.CreateVector(
      std::vector<flatbuffers::Offset<fb::Entry>>(1000, entry.Finish()));
  fb::ModelBuilder model(builder);
  model.add_entries(entries);
  builder.Finish(model.Finish());
  auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  expectQuick([&] {
    auto info = verifyModel({data, builder.GetSize()}, 0);
    ASSERT_FALSE(info);
    EXPECT_FALSE(info.error().message.empty());
  });
}

//===- Long and deep ------------------------------------------------------===//

TEST(HostileFile, expressionsOfManyPartsAreShort) {
  B b;
  uint32_t dim = b.symbol(0);
  uint32_t x = b.input("x", {dim});
  for (int i = 0; i < 500; ++i)
    dim = b.expr(ExprOp::add, dim, dim);
  uint32_t out = b.output({dim});
  b.copy(x, out, b.constant(0));
  expectQuick([&] {
    std::string error = failure(b, {{1}});
    EXPECT_NE(error.find("does not fit"), std::string::npos) << error;
    EXPECT_LT(error.size(), 2000u);
  });
}

TEST(HostileFile, deepExpressionsTakeNoStack) {
  std::vector<Expr> exprs = {{ExprOp::constant, 0, 0, 1}};
  for (uint32_t i = 0; i < 200'000; ++i)
    exprs.push_back({ExprOp::add, i, 0, 0});
  EXPECT_EQ(evaluate(exprs, 200'000, {}), 200'001);
}

// One symbol is found in each pass, among many expressions.
TEST(HostileFile, symbolsAreFoundInLinearTime) {
  constexpr uint32_t symbols = 2000, others = 200'000;
  B b;
  std::vector<uint32_t> sums = {b.symbol(0)};
  for (uint32_t i = 1; i < symbols; ++i)
    sums.push_back(b.expr(ExprOp::add, sums.back(), b.symbol(i)));
  uint32_t one = b.constant(1);
  for (uint32_t i = 0; i < others; ++i)
    b.expr(ExprOp::add, one, one);
  std::vector<std::vector<int64_t>> dims;
  for (uint32_t i = symbols; i-- > 0;) {
    b.input("", {sums[i]});
    dims.push_back({int64_t(2 * i + 2)});
  }
  uint32_t out = b.output({sums.back()});
  b.copy(0, out, one);
  expectQuick([&] { EXPECT_EQ(failure(b, dims), ""); });
  dims[5] = {0};
  EXPECT_EQ(failure(b, dims).substr(0, 18), "input 5: expected ");
}

TEST(HostileFile, loopsAndTemporariesTakeLinearTime) {
  constexpr uint32_t count = 50'000;
  B b;
  uint32_t one = b.constant(1), large = b.constant(300);
  uint32_t x = b.input("x", {one}), out = b.output({one});
  for (uint32_t i = 0; i < count; ++i) {
    b.loop(one, 1, {}, {});
    uint32_t step = 2 * i + 1;
    // Those of odd loops live on, so that the arena has holes.
    uint32_t last = i % 2 ? 2 * count - 1 : step;
    b.copy(x, b.temp(i < count / 2 ? one : large, step, last), one);
  }
  b.copy(x, out, one);
  expectQuick([&] { EXPECT_EQ(failure(b, {{1}}), ""); });
}

//===- What a terminal would obey -----------------------------------------===//

TEST(HostileFile, namesArePrintable) {
  EXPECT_EQ(failure([](B &b) { b.program.kernels[0]->name = "a\x1b[31m"; }),
            "model file: kernel 'a\\x1b[31m' holds more than letters");
  B b = fullProgram();
  b.program.inputs[0]->name = "x\x1b]0;owned\a\n";
  EXPECT_EQ(failure(b, {{-1}, {}}),
            "input 'x\\x1b]0;owned\\x07\\x0a': expected f32[s0], got f32[-1]");
}
