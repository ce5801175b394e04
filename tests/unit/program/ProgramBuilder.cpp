#include "tests/unit/program/ProgramBuilder.h"

#include <bit>
#include <cstdlib>
#include <fstream>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

std::vector<std::byte> test::kernelImage() {
  std::ifstream file(SINTER_TEST_KERNELS, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.empty())
    std::abort();
  auto *data = reinterpret_cast<const std::byte *>(bytes.data());
  return {data, data + bytes.size()};
}

ProgramBuilder::ProgramBuilder() {
  program.target = "cpu";
  program.num_nodes = 16;
  program.compiler = "test";
}

uint32_t ProgramBuilder::constant(int64_t value) {
  program.exprs.emplace_back(uint8_t(ExprOp::constant), 0, 0, value);
  return uint32_t(program.exprs.size() - 1);
}

uint32_t ProgramBuilder::symbol(uint32_t number) {
  program.num_symbols = std::max(program.num_symbols, number + 1);
  program.exprs.emplace_back(uint8_t(ExprOp::symbol), 0, 0, number);
  return uint32_t(program.exprs.size() - 1);
}

uint32_t ProgramBuilder::expr(ExprOp op, uint32_t lhs, uint32_t rhs) {
  program.exprs.emplace_back(uint8_t(op), lhs, rhs, 0);
  return uint32_t(program.exprs.size() - 1);
}

void ProgramBuilder::guard(uint32_t lhs, uint32_t rhs) {
  program.guards.emplace_back(lhs, rhs);
}

static uint32_t addBuffer(fb::ProgramT &program, fb::BufferKind kind,
                          uint32_t index) {
  auto buffer = std::make_unique<fb::BufferT>();
  buffer->kind = kind;
  buffer->index = index;
  program.buffers.push_back(std::move(buffer));
  return uint32_t(program.buffers.size() - 1);
}

uint32_t ProgramBuilder::input(const std::string &name,
                               std::vector<uint32_t> dims,
                               graph::InputKind kind, DType dtype) {
  auto port = std::make_unique<fb::PortT>();
  port->name = name;
  port->dims = std::move(dims);
  port->kind = uint8_t(kind);
  port->dtype = uint8_t(dtype);
  program.inputs.push_back(std::move(port));
  return addBuffer(program, fb::BufferKind::input,
                   uint32_t(program.inputs.size() - 1));
}

uint32_t ProgramBuilder::output(std::vector<uint32_t> dims, DType dtype) {
  auto port = std::make_unique<fb::PortT>();
  port->dims = std::move(dims);
  port->dtype = uint8_t(dtype);
  program.outputs.push_back(std::move(port));
  return addBuffer(program, fb::BufferKind::output,
                   uint32_t(program.outputs.size() - 1));
}

uint32_t ProgramBuilder::temp(uint32_t bytes, uint32_t first, uint32_t last) {
  uint32_t index = addBuffer(program, fb::BufferKind::temp, 0);
  program.buffers[index]->bytes = bytes;
  program.buffers[index]->first = first;
  program.buffers[index]->last = last;
  return index;
}

uint32_t ProgramBuilder::moving(uint32_t bytes, uint32_t loop) {
  uint32_t index = addBuffer(program, fb::BufferKind::moving, loop);
  program.buffers[index]->bytes = bytes;
  return index;
}

uint32_t ProgramBuilder::constantData(uint64_t offset, uint64_t bytes) {
  auto entry = std::make_unique<fb::ConstantT>();
  entry->offset = offset;
  entry->bytes = bytes;
  program.constants.push_back(std::move(entry));
  return addBuffer(program, fb::BufferKind::constant,
                   uint32_t(program.constants.size() - 1));
}

namespace {
/// What a kernel of Kernels.c touches of a buffer: so many bytes for each of a
/// symbol's elements, of `once` for one, of `chunks` for each chunk.
struct Touched {
  enum : int { once = -1, chunks = -2 };
  int symbol;
  int64_t bytes;
};
} // namespace

/// Other kernels touch nothing.
static std::vector<Touched> touchedBy(std::string_view phase, size_t buffers) {
  if (phase == "scale")
    return {{0, 4}, {Touched::once, 4}, {0, 4}};
  if (phase == "add")
    return {{0, 4}, {0, 4}, {0, 4}};
  if (phase == "gather")
    return {{0, 4}, {1, 8}, {1, 4}};
  if (phase == "sum_partials" || phase == "sum_total")
    return {{0, 4}, {Touched::once, 4}, {Touched::chunks, 4}};
  return std::vector<Touched>(buffers, {Touched::once, 0});
}

static void tellSizes(std::string_view phase, fb::KernelT &kernel) {
  auto add = [&](ExprOp op, uint32_t lhs, uint32_t rhs, int64_t value) {
    kernel.exprs.emplace_back(uint8_t(op), lhs, rhs, value);
    return uint32_t(kernel.exprs.size() - 1);
  };
  for (auto [symbol, bytes] :
       touchedBy(phase, kernel.num_inputs + kernel.num_outputs)) {
    uint32_t size = add(ExprOp::constant, 0, 0, bytes);
    if (symbol == Touched::chunks)
      size = add(ExprOp::mul, 2, size, 0);
    else if (symbol >= 0)
      size = add(ExprOp::mul, add(ExprOp::symbol, 0, 0, symbol), size, 0);
    kernel.buffer_bytes.push_back(size);
  }
}

std::vector<int64_t> test::touchedBytes(std::string_view phase,
                                        std::span<const int64_t> dims) {
  std::vector<int64_t> bytes;
  for (auto [symbol, each] : touchedBy(phase, 0))
    bytes.push_back(each * (symbol >= 0                 ? dims[size_t(symbol)]
                            : symbol == Touched::chunks ? (dims[0] + 255) / 256
                                                        : 1));
  return bytes;
}

uint32_t ProgramBuilder::kernel(const std::string &name, uint32_t inputs,
                                uint32_t outputs, uint32_t symbols,
                                std::vector<std::string> phases) {
  auto kernel = std::make_unique<fb::KernelT>();
  kernel->name = name;
  kernel->kind = "map";
  kernel->num_symbols = symbols;
  kernel->num_inputs = inputs;
  kernel->num_outputs = outputs;
  kernel->exprs.emplace_back(uint8_t(ExprOp::symbol), 0, 0, symbols - 1);
  kernel->exprs.emplace_back(uint8_t(ExprOp::constant), 0, 0, 256);
  kernel->exprs.emplace_back(uint8_t(ExprOp::ceilDiv), 0, 1, 0);
  kernel->exprs.emplace_back(uint8_t(ExprOp::constant), 0, 0, 1);
  for (size_t i = 0; i < phases.size(); ++i) {
    auto phase = std::make_unique<fb::PhaseT>();
    phase->symbol = phases[i];
    phase->chunks = i == 0 ? 2 : 3;
    phase->grain_us = 1;
    kernel->phases.push_back(std::move(phase));
  }
  tellSizes(phases.front(), *kernel);
  program.kernels.push_back(std::move(kernel));
  return uint32_t(program.kernels.size() - 1);
}

uint32_t ProgramBuilder::launch(uint32_t kernel, std::vector<uint32_t> buffers,
                                std::vector<uint32_t> dims, int32_t errorNode) {
  fb::LaunchT launch;
  launch.kernel = kernel;
  launch.buffers = std::move(buffers);
  launch.bytes_read = launch.bytes_written = dims.at(0);
  launch.dims = std::move(dims);
  launch.nodes = {1};
  launch.error_node = errorNode;
  auto entry = std::make_unique<fb::StepEntryT>();
  entry->step.Set(std::move(launch));
  program.steps.push_back(std::move(entry));
  return uint32_t(program.steps.size() - 1);
}

uint32_t ProgramBuilder::copy(uint32_t from, uint32_t to, uint32_t bytes) {
  fb::CopyT copy;
  copy.from = from;
  copy.to = to;
  copy.bytes = bytes;
  auto entry = std::make_unique<fb::StepEntryT>();
  entry->step.Set(copy);
  program.steps.push_back(std::move(entry));
  return uint32_t(program.steps.size() - 1);
}

uint32_t ProgramBuilder::loop(uint32_t count, uint32_t steps,
                              std::vector<fb::LoopCarry> carries,
                              std::vector<fb::LoopSlice> slices) {
  fb::LoopT loop;
  loop.count = count;
  loop.steps = steps;
  loop.carries = std::move(carries);
  loop.slices = std::move(slices);
  auto entry = std::make_unique<fb::StepEntryT>();
  entry->step.Set(std::move(loop));
  program.steps.push_back(std::move(entry));
  return uint32_t(program.steps.size() - 1);
}

void ProgramBuilder::mayAlias(uint32_t input, uint32_t output) {
  program.aliases.emplace_back(input, output);
}

void ProgramBuilder::targetCuda(std::string_view ptx) {
  program.target = "cuda";
  program.variant = "sm_80";
  auto *text = reinterpret_cast<const std::byte *>(ptx.data());
  image.assign(text, text + ptx.size());
  image.push_back({}); // ends the module
}

void ProgramBuilder::targetVulkan(std::string_view spirv) {
  program.target = "vulkan";
  program.variant = "i64";
  const uint32_t words = uint32_t(spirv.size() / sizeof(uint32_t));
  auto *length = reinterpret_cast<const std::byte *>(&words);
  auto *code = reinterpret_cast<const std::byte *>(spirv.data());
  image.assign(length, length + sizeof(words));
  image.insert(image.end(), code, code + spirv.size());
}

std::vector<std::byte> ProgramBuilder::file() const {
  ModelWriter writer;
  writer.addProgram(program, image);
  writer.setConstants(constants);
  writer.setGraph("module {}\n");
  if (!sites.empty())
    writer.setSites(sites);
  auto file = writer.finish();
  if (!file)
    std::abort();
  return *file;
}

Binding test::bind(BufferRef buffer, std::vector<int64_t> dims, bool donate) {
  Binding binding;
  binding.buffer = std::move(buffer);
  binding.dims = std::move(dims);
  binding.donate = donate;
  return binding;
}

Binding test::bindScalar(float value) {
  Binding binding;
  binding.scalarBits = std::bit_cast<uint32_t>(value);
  return binding;
}

ProgramBuilder test::scaleProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);
  uint32_t x = b.input("x", {n});
  uint32_t factor = b.input("scale", {}, graph::InputKind::scalar);
  uint32_t out = b.output({n});
  uint32_t scale = b.kernel("map_scale", 2, 1, 1, {"scale"});
  b.launch(scale, {x, factor, out}, {n});
  return b;
}

ProgramBuilder test::fullProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0);                                          // expr 0
  uint32_t four = b.constant(4);                                     // expr 1
  uint32_t bytes = b.times(n, four);                                 // expr 2
  uint32_t x = b.input("x", {n});                                    // buffer 0
  uint32_t factor = b.input("factor", {}, graph::InputKind::scalar); // 1
  uint32_t scaled = b.temp(bytes, 0, 1);                             // 2
  uint32_t sum = b.output({n});                                      // 3
  uint32_t same = b.output({n});                                     // 4
  b.constants.resize(512);
  b.constantData(256, 16); // 5
  uint32_t scale = b.kernel("map_scale", 2, 1, 1, {"scale"});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.launch(scale, {x, factor, scaled}, {n});
  b.launch(add, {x, scaled, sum}, {n});
  b.copy(sum, same, bytes);
  b.mayAlias(0, 0);
  b.guard(n, n);
  auto decision = std::make_unique<fb::DecisionT>();
  decision->rule = "exact";
  decision->nodes = {1, 2};
  b.program.decisions.push_back(std::move(decision));
  return b;
}

ProgramBuilder test::loopProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0), t = b.symbol(1);
  uint32_t bytes = b.times(n, b.constant(4));
  uint32_t xs = b.input("xs", {t, n}), init = b.input("init", {n});
  uint32_t sum = b.output({n}), sums = b.output({t, n});
  uint32_t spare = b.temp(bytes, 0, 2);
  uint32_t carry = b.moving(bytes, 0), next = b.moving(bytes, 0);
  uint32_t x = b.moving(bytes, 0), y = b.moving(bytes, 0);
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.loop(t, 2, {{carry, init, next, sum, spare}}, {{x, xs}, {y, sums}});
  b.launch(add, {carry, x, next}, {n});
  b.copy(next, y, bytes);
  return b;
}

ProgramBuilder test::conditionalProgram(int32_t condition, int64_t most) {
  ProgramBuilder b;
  uint32_t n = b.symbol(0), one = b.constant(1), count = b.constant(most);
  uint32_t bytes = b.times(n, b.constant(4));
  uint32_t x = b.input("x", {n}), init = b.input("init", {n});
  uint32_t first = b.input("flag", {}, graph::InputKind::data, DType::boolean);
  uint32_t follows =
      b.input("follows", {}, graph::InputKind::data, DType::boolean);
  uint32_t sum = b.output({n}), last = b.output({}, DType::boolean);
  uint32_t spare = b.temp(bytes, 0, 2), spareFlag = b.temp(one, 0, 2);
  uint32_t carry = b.moving(bytes, 0), next = b.moving(bytes, 0);
  uint32_t flag = b.moving(one, 0), nextFlag = b.moving(one, 0);
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.loop(count, 2,
         {{carry, init, next, sum, spare},
          {flag, first, nextFlag, last, spareFlag}},
         {});
  b.program.steps[0]->step.AsLoop()->condition = condition;
  b.launch(add, {carry, x, next}, {n});
  b.copy(follows, nextFlag, one);
  b.mayAlias(1, 0);
  return b;
}

ProgramBuilder test::copyProgram() {
  ProgramBuilder b;
  b.program.target = "null";
  b.image.clear();
  uint32_t n = b.symbol(0), t = b.symbol(1);
  uint32_t bytes = b.times(n, b.constant(4));
  uint32_t xs = b.input("xs", {t, n}), init = b.input("init", {n});
  uint32_t last = b.output({n}), all = b.output({t, n});
  uint32_t spare = b.temp(bytes, 0, 3), kept = b.temp(bytes, 3, 4);
  uint32_t carry = b.moving(bytes, 0), next = b.moving(bytes, 0);
  uint32_t x = b.moving(bytes, 0), y = b.moving(bytes, 0);
  b.loop(t, 2, {{carry, init, next, last, spare}}, {{x, xs}, {y, all}});
  b.copy(x, next, bytes);
  b.copy(carry, y, bytes);
  b.copy(init, kept, bytes);
  uint32_t same = b.output({n});
  b.copy(kept, same, bytes);
  b.mayAlias(1, 2);
  return b;
}

ProgramBuilder test::gatherProgram() {
  ProgramBuilder b;
  uint32_t m = b.symbol(0), n = b.symbol(1);
  uint32_t four = b.constant(4), one = b.constant(1);
  uint32_t chunks = b.expr(ExprOp::ceilDiv, m, b.constant(256));
  uint32_t x = b.input("x", {m});
  uint32_t indices =
      b.input("indices", {n}, graph::InputKind::data, DType::i64);
  uint32_t taken = b.temp(b.times(n, four), 0, 0);
  uint32_t total = b.output({}), out = b.output({n});
  uint32_t partials = b.temp(b.times(chunks, four), 1, 1);
  uint32_t sum = b.kernel("reduce_sum", 1, 1, 1, {"sum_partials", "sum_total"});
  uint32_t gather = b.kernel("gather_rows", 2, 1, 2, {"gather"});
  uint32_t scale = b.kernel("map_scale", 2, 1, 1, {"scale"});
  b.program.kernels[sum]->phases[0]->prepares = 0;
  b.launch(gather, {x, indices, taken}, {m, n}, 1);
  b.launch(sum, {x, total, partials}, {m});
  b.launch(scale, {x, total, out}, {one});
  b.sites = {"a.cpp:1", "b.cpp:2"};
  return b;
}
