#include "tests/unit/program/ModelBuilder.h"

#include <bit>
#include <cstdlib>
#include <cstring>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
using graph::InputKind;

std::vector<std::byte> test::bytesOf(const std::vector<float> &values) {
  auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

ModelWriter ModelBuilder::writer() const {
  ModelWriter writer;
  for (const ProgramBuilder &each : programs)
    writer.addProgram(each.program, each.image);
  for (uint32_t i = 0; i < graphs.size(); ++i)
    writer.setGraph(graphs[i], i);
  for (uint32_t i = 0; i < sites.size(); ++i)
    writer.setSites(sites[i], i);
  writer.setModel(info, {data.begin(), data.end()});
  return writer;
}

std::vector<std::byte> ModelBuilder::file() const {
  auto file = writer().finish();
  if (!file)
    std::abort();
  return *file;
}

static EntryInput inputOf(const char *name, SlotKind kind,
                          uint32_t number = 0) {
  EntryInput input;
  input.name = name;
  input.kind = kind;
  input.number = number;
  return input;
}

static EntryOutput outputOf(const char *name, int32_t updates = -1,
                            bool isWeight = false) {
  return {name, "", updates, isWeight};
}

static ProgramBuilder predictProgram() {
  ProgramBuilder b;
  uint32_t eight = b.constant(8), bytes = b.constant(32);
  uint32_t x = b.input("x", {eight});
  uint32_t factor = b.input("scale", {}, InputKind::scalar);
  uint32_t weight = b.input("weight", {eight}, InputKind::parameter);
  uint32_t scaled = b.temp(bytes, 0, 1), out = b.output({eight});
  uint32_t scale = b.kernel("map_scale", 2, 1, 1, {"scale"});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.launch(scale, {x, factor, scaled}, {eight});
  b.launch(add, {scaled, weight, out}, {eight});
  return b;
}

static ProgramBuilder trainProgram() {
  ProgramBuilder b;
  uint32_t eight = b.constant(8), bytes = b.constant(32);
  uint32_t x = b.input("x", {eight});
  uint32_t weight = b.input("weight", {eight}, InputKind::parameter);
  uint32_t total = b.input("total", {eight}, InputKind::parameter);
  uint32_t newWeight = b.output({eight}), newTotal = b.output({eight});
  uint32_t given = b.output({eight});
  uint32_t add = b.kernel("map_add", 2, 1, 1, {"add"});
  b.launch(add, {weight, x, newWeight}, {eight});
  b.launch(add, {total, x, newTotal}, {eight});
  b.copy(newTotal, given, bytes);
  return b;
}

static ProgramBuilder drawProgram() {
  ProgramBuilder b = scaleProgram();
  for (const char *name : {"low", "high", "counter"})
    b.input(name, {}, InputKind::scalar, DType::i64);
  return b;
}

static EntryPoint drawEntry() {
  EntryPoint draw;
  draw.name = "draw";
  draw.inputs = {
      inputOf("x", SlotKind::given), inputOf("factor", SlotKind::given),
      inputOf("", SlotKind::random, 0), inputOf("", SlotKind::random, 1),
      inputOf("", SlotKind::random, 2)};
  draw.outputs = {outputOf("out")};
  draw.programs = {2};
  draw.dims = {{"n", 0, 0}};
  draw.exprs = {{ExprOp::symbol, 0, 0, 0},
                {ExprOp::constant, 0, 0, 4},
                {ExprOp::ceilDiv, 0, 1, 0},
                {ExprOp::constant, 0, 0, 0}};
  draw.inputs[4].randomExpr = 3;
  draw.randomExpr = 2;
  return draw;
}

ModelBuilder test::smallModel() {
  ModelBuilder b;
  b.programs = {predictProgram(), trainProgram(), drawProgram()};
  b.graphs = {"module {}\n", "module {} \n", "module {}  \n"};
  b.sites = {{"a.cpp:1"}, {}, {"c.cpp:1"}};

  EntryPoint predict;
  predict.name = "predict";
  predict.description = "what the model says";
  predict.inputs = {inputOf("x", SlotKind::given),
                    inputOf("scale", SlotKind::constant),
                    inputOf("weight", SlotKind::weight)};
  predict.inputs[1].scalarBits = std::bit_cast<uint32_t>(3.0f);
  predict.outputs = {outputOf("y")};
  predict.programs = {0};

  EntryPoint train;
  train.name = "train";
  train.inputs = {inputOf("x", SlotKind::given),
                  inputOf("weight", SlotKind::weight),
                  inputOf("total", SlotKind::state)};
  train.outputs = {outputOf("weight", 0, true), outputOf("total", 0),
                   outputOf("sum")};
  train.programs = {1};

  b.info.entries = {predict, train, drawEntry()};
  b.info.tensors = {{"weight", DType::f32, {8}},
                    {"copy", DType::f32, {2, 4}},
                    {"bias", DType::f32, {3}},
                    {"total", DType::f32, {8}}};
  b.info.states = {{"total", "all that was seen", 3}};
  b.info.metadata = {{"author", "somebody"}, {"license", "MIT"}};
  std::vector<float> weight = {1, 2, 3, 4, 5, 6, 7, 8};
  b.data = {bytesOf(weight), bytesOf(weight), bytesOf({1, 0, 2}),
            bytesOf(std::vector<float>(8))};
  return b;
}

ModelBuilder test::copyModel() {
  ProgramBuilder p;
  p.program.target = "null";
  p.image.clear();
  uint32_t eight = p.constant(8), bytes = p.constant(32);
  uint32_t x = p.input("x", {eight});
  uint32_t last = p.input("last", {eight}, InputKind::parameter);
  uint32_t out = p.output({eight}), next = p.output({eight});
  p.copy(last, out, bytes);
  p.copy(x, next, bytes);

  ModelBuilder b;
  b.programs = {p};
  b.graphs = {"module {}\n"};
  EntryPoint entry;
  entry.name = "main";
  entry.inputs = {inputOf("x", SlotKind::given),
                  inputOf("last", SlotKind::state)};
  entry.outputs = {outputOf("before"), outputOf("last", 0)};
  entry.programs = {0};
  b.info.entries = {entry};
  b.info.tensors = {{"last", DType::f32, {8}}};
  b.info.states = {{"last", "", 0}};
  b.data = {bytesOf({8, 7, 6, 5, 4, 3, 2, 1})};
  return b;
}

static ProgramBuilder copies() {
  ProgramBuilder p;
  p.program.target = "null";
  p.image.clear();
  return p;
}

ModelBuilder test::partsModel() {
  ProgramBuilder first = copies(), second = copies();
  uint32_t eight = first.constant(8), bytes = first.constant(32);
  uint32_t x = first.input("x", {eight});
  uint32_t k = first.input("k", {}, InputKind::data, DType::i64);
  uint32_t all = first.output({eight}), count = first.output({}, DType::i64);
  first.copy(x, all, bytes);
  first.copy(k, count, eight);
  uint32_t n = second.symbol(0), four = second.constant(4);
  second.input("x", {second.constant(8)});
  second.input("k", {}, InputKind::data, DType::i64);
  uint32_t rows = second.input("rows", {n}), y = second.output({n});
  second.copy(rows, y, second.times(n, four));

  ModelBuilder b;
  b.programs = {second, first};
  b.graphs = {"module {}\n", "module {}  \n"};
  EntryPoint entry, part;
  entry.name = "main";
  entry.inputs = {inputOf("x", SlotKind::given), inputOf("k", SlotKind::given),
                  inputOf("", SlotKind::passed)};
  entry.inputs[2].count = 1;
  entry.outputs = {outputOf("y")};
  entry.programs = {0};
  entry.dims = {{"rows", 2, 0}};
  entry.parts = {1};
  part.name = "main.part0";
  part.inputs = {inputOf("x", SlotKind::given), inputOf("k", SlotKind::given)};
  part.outputs = {outputOf("passed0"), outputOf("passed1")};
  part.programs = {1};
  b.info.entries = {entry, part};
  return b;
}
