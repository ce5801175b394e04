/// Every op's example, as its reference shows it, compiled, run and compared
/// with runtime/reference.
#include "runtime/graph/OpIds.h"
#include "runtime/support/Flags.h"
#include "tests/property/PropertyTable.h"

#include <sinter/Basic.h>
#include <sinter/Complex.h>
#include <sinter/Ops.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace sinter;

namespace {

struct Example {
  std::string name;
  Tensor (*call)();
};

/// What the example's operand looks like: 3 x 4, unless the rule says
/// otherwise.
Dims sampleShape(std::string_view rule, size_t index) {
  if (rule == "random" || (rule == "dropout" && index > 0))
    return {};
  if (rule.starts_with("dynamic") && index == 1)
    return {};
  if (rule == "indexSelect" && index == 1)
    return {2};
  if (rule == "conv" || rule == "convTranspose")
    return index == 0 ? Dims{1, 2, 5} : Dims{2, 2, 3};
  if (rule == "convWeight")
    return index == 0 ? Dims{1, 2, 5} : Dims{1, 3, 4};
  if (rule == "pool" || rule == "avgPool")
    return {1, 2, 4};
  if (rule == "matmul" && index == 1)
    return {4, 3};
  if (rule == "layerNorm" && index > 0)
    return {4};
  if (rule == "crossEntropy" && index == 1)
    return {3};
  if (rule.starts_with("attention") && index == (rule == "attention" ? 3 : 2))
    return {};
  if (rule.starts_with("attention") && index > 4)
    return {3, 1};
  return {3, 4};
}

const property::PropertyRow &rowOf(graph::OpId op) {
  return property::propertyTable()[size_t(op) - 1];
}

/// Ones, in the first dtype that the operand takes.
Tensor sample(graph::OpId op, size_t index) {
  const property::PropertyRow &row = rowOf(op);
  graph::DTypeSet allowed = row.operands[index].dtypes;
  unsigned code = 0;
  while (!(allowed >> code & 1))
    ++code;
  return ones(sampleShape(row.shapeRule, index), {DType(code), {}});
}

std::vector<Tensor> samples(graph::OpId op) {
  return {sample(op, 0), sample(op, 0)};
}

#include "sinter/generated/Examples.inc"

/// It is code for a device that is not here.
void expectForThatDevice(const Example &example) {
  try {
    example.call();
    ADD_FAILURE() << "was recorded";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
    EXPECT_EQ(error.op(), example.name) << error.what();
  }
}

class Examples : public testing::TestWithParam<Example> {};

TEST_P(Examples, Run) {
  ASSERT_TRUE(flags().verify) << "SINTER_VERIFY compares with the reference";
  bool isUsers = graph::info(graph::findOp(GetParam().name)).kind ==
                 graph::PatternKind::opaque;
  if (isUsers && default_device().kind != DeviceKind::cuda)
    expectForThatDevice(GetParam());
  else
    EXPECT_NO_THROW(GetParam().call().eval());
}

INSTANTIATE_TEST_SUITE_P(Ops, Examples, testing::ValuesIn(examples),
                         [](const testing::TestParamInfo<Example> &info) {
                           return info.param.name;
                         });

} // namespace
