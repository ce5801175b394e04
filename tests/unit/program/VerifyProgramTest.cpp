#include "tests/unit/program/ProgramBuilder.h"

#include <functional>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

Device &cpu() { return **getDevice({DeviceKind::cpu, 0}); }

fb::LaunchT &launchAt(ProgramBuilder &b, size_t step) {
  return *b.program.steps[step]->step.AsLaunch();
}

/// The message with which a changed program is refused; empty when it loads.
std::string refusal(const std::function<void(ProgramBuilder &)> &change) {
  ProgramBuilder b = fullProgram();
  change(b);
  auto program = Program::load(b.file(), cpu());
  if (program)
    return {};
  EXPECT_EQ(program.error().kind, ErrorKind::io) << program.error().message;
  return program.error().message;
}

using B = ProgramBuilder;

} // namespace

TEST(VerifyProgram, acceptsAFullProgram) {
  EXPECT_EQ(refusal([](B &) {}), "");
  auto program = Program::load(fullProgram().file(), cpu());
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->launches().size(), 2u);
  EXPECT_EQ((*program)->decisions()[0].rule, "exact");
  EXPECT_EQ((*program)->numSymbols(), 1u);
}

TEST(VerifyProgram, checksExprs) {
  EXPECT_EQ(refusal([](B &b) {
              b.program.exprs[2] = {uint8_t(ExprOp::mul), 0, 2, 0};
            }),
            "model file: expr 2 uses an expr that is not before it");
  EXPECT_EQ(refusal([](B &b) { b.program.exprs[0] = {1, 0, 0, 5}; }),
            "model file: expr 0 names symbol 5 of 1");
  EXPECT_EQ(refusal([](B &b) { b.program.exprs[0] = {1, 0, 0, -1}; }),
            "model file: expr 0 names symbol -1 of 1");
  EXPECT_EQ(refusal([](B &b) { b.program.exprs[1] = {9, 0, 0, 0}; }),
            "model file: expr 1 has unknown op 9");
  EXPECT_EQ(refusal([](B &b) { b.program.guards.emplace_back(0, 77); }),
            "model file: guard: expr 77 of 3");
}

TEST(VerifyProgram, checksPorts) {
  EXPECT_EQ(refusal([](B &b) { b.program.inputs[0]->dims = {50}; }),
            "model file: port dim 50 of 3");
  EXPECT_EQ(refusal([](B &b) { b.program.inputs[0]->dtype = 99; }),
            "model file: a port has dtype code 99");
  EXPECT_EQ(refusal([](B &b) { b.program.inputs[0]->kind = 3; }),
            "model file: a port has kind 3");
  EXPECT_EQ(refusal([](B &b) { b.program.outputs[0]->kind = 1; }),
            "model file: a port has kind 1");
  EXPECT_EQ(refusal([](B &b) { b.program.inputs[1]->dims = {0}; }),
            "model file: a scalar input has rank 1");
  EXPECT_EQ(
      refusal([](B &b) { b.program.inputs[1]->dtype = uint8_t(DType::c128); }),
      "model file: a scalar input has dtype c128");
  EXPECT_EQ(refusal([](B &b) { b.program.inputs[0]->node = 16; }),
            "model file: a port has node 16 of 16");
  EXPECT_EQ(refusal([](B &b) { b.program.inputs[0]->dims.assign(33, 0); }),
            "model file: a port has rank 33");
  EXPECT_EQ(refusal([](B &b) { b.program.num_symbols = 2; }),
            "model file: symbol s1 does not follow from the inputs' dims");
}

TEST(VerifyProgram, checksKernels) {
  EXPECT_EQ(refusal([](B &b) { b.program.kernels[0]->num_outputs = 0; }),
            "model file: kernel map_scale: it has no outputs");
  EXPECT_EQ(refusal([](B &b) { b.program.kernels[0]->phases.clear(); }),
            "model file: kernel map_scale: it has no phases");
  EXPECT_EQ(refusal([](B &b) { b.program.kernels[0]->phases[0]->chunks = 40; }),
            "model file: kernel map_scale: chunk count is expr 40 of 11");
  EXPECT_EQ(refusal([](B &b) {
              b.program.kernels[0]->phases[0]->symbol = "missing";
            }),
            "model file: the image lacks `missing` of kernel map_scale");
  EXPECT_EQ(refusal([](B &b) { b.program.kernels[0]->num_symbols = 5000; }),
            "model file: kernel map_scale: too many symbols or buffers");
  EXPECT_EQ(
      refusal([](B &b) { b.program.kernels[0]->phases[0]->prepares = 2; }),
      "model file: kernel map_scale: a phase prepares input 2 of 2");
  EXPECT_EQ(
      refusal([](B &b) { b.program.kernels[0]->phases[0]->prepares = -2; }),
      "model file: kernel map_scale: a phase prepares input -2 of 2");
  EXPECT_EQ(
      refusal([](B &b) { b.program.kernels[0]->phases[0]->prepares = 0; }),
      "model file: a launch of map_scale lacks the workspace that it prepares");
  EXPECT_EQ(refusal([](B &b) {
              b.program.kernels[0]->phases[0]->prepares = 0;
              b.program.kernels[0]->phases[0]->workspace = 1u << 21;
            }),
            "model file: kernel map_scale: a phase fills workspace 2097152");
}

TEST(VerifyProgram, checksBuffers) {
  EXPECT_EQ(refusal([](B &b) { b.program.buffers[0]->index = 2; }),
            "model file: buffer 0 stands for number 2 of 2");
  EXPECT_EQ(refusal([](B &b) { b.program.buffers[2]->bytes = 3; }),
            "model file: buffer size: expr 3 of 3");
  EXPECT_EQ(refusal([](B &b) { b.program.buffers[2]->last = 3; }),
            "model file: buffer 2 lives in steps 0 to 3 of 3");
  EXPECT_EQ(refusal([](B &b) { b.program.buffers[2]->last = 0; }),
            "model file: step 1 uses buffer 2, which lives in steps 0 to 0");
  EXPECT_EQ(refusal([](B &b) { b.program.buffers[4]->index = 0; }),
            "model file: output 0 has two buffers");
  EXPECT_EQ(refusal([](B &b) { b.program.buffers[1]->index = 0; }),
            "model file: input 0 has two buffers");
  EXPECT_EQ(refusal([](B &b) { b.program.constants[0]->bytes = 257; }),
            "model file: constant 0 is not in the constants section");
  EXPECT_EQ(refusal([](B &b) { b.program.constants[0]->offset = UINT64_MAX; }),
            "model file: constant 0 is not in the constants section");
  EXPECT_EQ(refusal([](B &b) { b.program.constants[0]->offset = 8; }),
            "model file: constant 0 is not aligned to 256 bytes");
}

TEST(VerifyProgram, checksLaunches) {
  EXPECT_EQ(refusal([](B &b) { launchAt(b, 0).kernel = 2; }),
            "model file: a launch names kernel 2 of 2");
  EXPECT_EQ(refusal([](B &b) { launchAt(b, 0).buffers.pop_back(); }),
            "model file: a launch of map_scale has 2 buffers, it needs 3");
  EXPECT_EQ(refusal([](B &b) { launchAt(b, 0).buffers[1] = 6; }),
            "model file: buffer 6 of 6");
  EXPECT_EQ(refusal([](B &b) { launchAt(b, 0).dims.push_back(0); }),
            "model file: a launch of map_scale has 2 dims, it needs 1");
  EXPECT_EQ(refusal([](B &b) { launchAt(b, 0).bytes_read = 3; }),
            "model file: bytes read: expr 3 of 3");
  EXPECT_EQ(refusal([](B &b) { launchAt(b, 0).nodes = {16}; }),
            "model file: node 16 of 16");
  EXPECT_EQ(refusal([](B &b) { launchAt(b, 0).error_node = 16; }),
            "model file: a launch reports for node 16 of 16");
  EXPECT_EQ(refusal([](B &b) { b.program.steps[0]->step.Reset(); }),
            "model file: step 0 is of an unknown kind");
}

TEST(VerifyProgram, checksWhoWritesWhat) {
  EXPECT_EQ(refusal([](B &b) { launchAt(b, 1).buffers[2] = 0; }),
            "model file: step 1 writes buffer 0, which is read only");
  EXPECT_EQ(refusal([](B &b) { launchAt(b, 1).buffers[2] = 5; }),
            "model file: step 1 writes buffer 5, which is read only");
  EXPECT_EQ(refusal([](B &b) { launchAt(b, 0).buffers[0] = 2; }),
            "model file: step 0 reads buffer 2 before it is written");
  EXPECT_EQ(refusal([](B &b) { b.program.steps[2]->step.AsCopy()->to = 3; }),
            "model file: output 1 is never written");
  EXPECT_EQ(refusal([](B &b) { b.program.steps[2]->step.AsCopy()->to = 90; }),
            "model file: a copy names buffers 3 and 90 of 6");
  EXPECT_EQ(refusal([](B &b) { b.mayAlias(2, 0); }),
            "model file: alias 1 names input 2 and output 0");
  EXPECT_EQ(refusal([](B &b) { b.mayAlias(0, 2); }),
            "model file: alias 1 names input 0 and output 2");
  EXPECT_EQ(refusal([](B &b) { b.mayAlias(1, 1); }), "");
}

TEST(VerifyProgram, checksSizesWhenDimsAreKnown) {
  auto runError = [](const std::function<void(B &)> &change, int64_t n) {
    B b = fullProgram();
    change(b);
    auto program = Program::load(b.file(), cpu());
    EXPECT_TRUE(program) << program.error().message;
    BufferRef x = bufferOf(cpu(), std::vector<float>(8));
    auto outputs = run(**program, std::vector{bind(x, {n}), bindScalar(1)});
    return outputs ? std::string() : outputs.error().message;
  };
  EXPECT_EQ(runError([](B &) {}, 8), "");
  EXPECT_EQ(runError(
                [](B &b) {
                  b.program.steps[2]->step.AsCopy()->bytes =
                      b.times(2, b.constant(2));
                },
                8),
            "a copy of 64 bytes is larger than its buffers");
  EXPECT_EQ(runError(
                [](B &b) {
                  uint32_t big = b.constant(INT64_MAX);
                  b.program.buffers[2]->bytes = b.times(0, big);
                },
                8),
            "a temporary of -9223372036854775808 bytes does not fit");
  EXPECT_EQ(runError(
                [](B &b) {
                  uint32_t zero = b.constant(0);
                  launchAt(b, 0).dims = {b.expr(ExprOp::floorDiv, 0, zero)};
                },
                8),
            "kernel map_scale: dim -9223372036854775808 does not fit");
  EXPECT_NE(runError([](B &) {}, int64_t(1) << 31), "");
  EXPECT_NE(runError([](B &) {}, -1), "");
}
