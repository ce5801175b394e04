/// Whichever of its schedules a kernel gets, it gives the same.
#include "runtime/device/Device.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/OpIds.h"
#include "runtime/support/Flags.h"
#include "runtime/tune/TileTable.h"
#include "sinter/generated/builders/Contraction.h"
#include "sinter/generated/builders/Elementwise.h"
#include "sinter/generated/builders/Reduce.h"
#include "sinter/generated/builders/View.h"
#include "sinter/generated/builders/Windows.h"
#include "tests/property/Cases.h"
#include "tests/property/Compiled.h"
#include "tests/unit/graph/GraphLeaves.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace sinter;
using graph::NodeRef;
using reference::HostTensor;
using reference::HostValue;

namespace {

using Function = NodeRef (*)(const NodeRef &x);

NodeRef sumOfRows(const NodeRef &x) {
  int64_t axes[] = {1};
  return graph::ok(graph::sum(x, axes, /*keepdims=*/false));
}
NodeRef sumOfColumns(const NodeRef &x) {
  int64_t axes[] = {0};
  return graph::ok(graph::sum(x, axes, /*keepdims=*/false));
}
NodeRef placeOf(const NodeRef &x) {
  return graph::ok(graph::argmax(x, 1, /*keepdims=*/false));
}
NodeRef turnOf(const NodeRef &x) {
  int64_t turn[] = {1, 0};
  return graph::ok(graph::transpose(x, turn));
}
/// Less the mean: rows after one reduction of them.
NodeRef centeredOf(const NodeRef &x) {
  int64_t axes[] = {1};
  NodeRef mean = graph::ok(graph::mean(x, axes, /*keepdims=*/true));
  return graph::ok(graph::sub(x, graph::ok(graph::broadcast(mean, x->dims()))));
}
/// Over the root of the sum of squares: rows after two reductions.
NodeRef normedOf(const NodeRef &x) {
  NodeRef left = centeredOf(x);
  int64_t axes[] = {1};
  NodeRef squares = graph::ok(
      graph::sum(graph::ok(graph::mul(left, left)), axes, /*keepdims=*/true));
  NodeRef root =
      graph::ok(graph::broadcast(graph::ok(graph::sqrt(squares)), x->dims()));
  return graph::ok(graph::div(left, root));
}
/// Products of rows with each other, and of columns, of which k are rows.
NodeRef productsOfRows(const NodeRef &x) {
  return graph::ok(graph::matmul(x, turnOf(x)));
}
NodeRef productsOfColumns(const NodeRef &x) {
  return graph::ok(graph::matmul(turnOf(x), x));
}
/// Rows are the places of a picture that has 30 in a line; the first ones are
/// weights, too.
NodeRef windowsOf(const NodeRef &x) {
  int64_t channels = x->dims()[1].value;
  int64_t lines = x->dims()[0].value / 30;
  Dim picture[] = {1, lines, 30, channels};
  Dim weight[] = {channels, channels, 3, 3};
  int64_t none[] = {0, 0}, ones[] = {1, 1}, start[] = {0, 0};
  Dim limits[] = {9 * channels, channels};
  NodeRef first = graph::ok(graph::slice(x, start, limits, ones));
  int64_t sizes[] = {3, 3};
  return graph::ok(graph::conv(graph::ok(graph::reshape(x, picture)),
                               graph::ok(graph::reshape(first, weight)), sizes,
                               ones, none, none, ones,
                               /*groups=*/1, Layout::channels_last));
}

graph::Graph graphOf(Function function, DType dtype, int64_t rows,
                     int64_t columns) {
  std::vector<Dim> dims{Dim(rows), Dim(columns)};
  NodeRef x = graph::NodeFactory::lazyLeaf(dtype, dims, DeviceId(), false);
  NodeRef y = function(x);
  return graph::slice({&y, 1})->graph;
}

/// As `sinter inspect --stage target` lists them.
runtime::TileChoices choicesOf(const graph::Graph &graph) {
  runtime::CompileRequest request;
  request.target =
      (*runtime::getDevice(*parseDevice(flags().device)))->target();
  auto text = (*runtime::compilerHook())->inspect(graph, "target", request);
  EXPECT_TRUE(text) << text.error().message;
  runtime::TileChoices choices;
  std::istringstream lines(text ? *text : "");
  constexpr std::string_view mark = "tile ";
  for (std::string line; std::getline(lines, line);)
    if (size_t equals = line.find('='); line.starts_with(mark))
      choices.push_back({line.substr(mark.size(), equals - mark.size()),
                         line.substr(equals + 1)});
  return choices;
}

HostTensor drawn(DType dtype, int64_t rows, int64_t columns) {
  property::Rng rng(7);
  HostValue value(dtype, {rows, columns});
  for (int64_t i = 0; i < value.elements(); ++i)
    value.set(i, property::drawReal(rng, -1, 1));
  return reference::encode(value);
}

/// The names of the choices, each of which was run.
std::set<std::string> checkAll(Function function, int64_t rows, int64_t columns,
                               DType dtype = DType::f32) {
  SCOPED_TRACE(std::string(name(dtype)) + " of " + std::to_string(rows) +
               " x " + std::to_string(columns));
  graph::Graph graph = graphOf(function, dtype, rows, columns);
  HostTensor x = drawn(dtype, rows, columns);
  auto expected = property::expectationOf(graph, {&x, 1});
  EXPECT_TRUE(expected) << expected.error().message;
  std::set<std::string> names;
  for (const runtime::TileChoice &choice : choicesOf(graph)) {
    SCOPED_TRACE(choice.tile);
    names.insert(choice.tile);
    runtime::CompileRequest request;
    request.tiles = {choice};
    auto program = property::compileGraph(graph, request);
    EXPECT_TRUE(program) << program.error().message;
    if (!program || !expected)
      continue;
    auto found = property::runProgram(**program, {&x, 1});
    EXPECT_TRUE(found) << found.error().message;
    if (found) {
      EXPECT_EQ(property::mismatchOf(*found, *expected), "");
    }
  }
  return names;
}

struct Shape {
  int64_t rows, columns;
};
constexpr Shape shapes[] = {{1, 40000}, {3, 8193},  {70, 2048},  {33, 4096},
                            {17, 640},  {9000, 20}, {1000, 257}, {24576, 6}};

} // namespace

TEST(Schedules, OfRowsGiveTheSame) {
  std::set<std::string> names;
  for (Function function :
       {sumOfRows, placeOf, centeredOf, normedOf, sumOfColumns, turnOf})
    for (auto [rows, columns] : shapes)
      names.merge(checkAll(function, rows, columns));
  EXPECT_TRUE(names.contains("rows by grid"));
  EXPECT_TRUE(names.contains("rows by warp"));
  EXPECT_TRUE(names.contains("columns by grid"));
  if (flags().device == "cpu")
    return;
  for (const char *name :
       {"rows by block", "rows by block in registers", "rows by lane",
        "columns by lane", "columns by block", "turn"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Schedules, OfProductsGiveTheSame) {
  struct Case {
    Function function;
    DType dtype;
    int64_t rows, columns;
  };
  constexpr Case cases[] = {{productsOfRows, DType::f32, 130, 257},
                            {productsOfRows, DType::f64, 33, 65},
                            {productsOfRows, DType::bf16, 136, 256},
                            {productsOfColumns, DType::f32, 2100, 70},
                            {productsOfColumns, DType::bf16, 33, 65},
                            {windowsOf, DType::f32, 30 * 30, 16}};
  size_t choices = 0;
  for (const Case &each : cases) {
    size_t own =
        checkAll(each.function, each.rows, each.columns, each.dtype).size();
    // A processor's matrix unit has one tile.
    choices += each.dtype == DType::bf16 ? 0 : own;
  }
  EXPECT_GT(choices, 12);
}
