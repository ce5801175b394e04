/// The import table: complete, without contradictions, and as documented.
#include "frontend/import/onnx/Operators.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

using namespace sinter::onnx;

TEST(Operators, rowsOfAnOperatorDoNotOverlap) {
  const Operator *before = nullptr;
  for (const Operator &row : operators()) {
    EXPECT_GE(row.since, 1) << row.name;
    EXPECT_TRUE(row.until == 0 || row.until >= row.since) << row.name;
    bool isSame = before && std::string_view(before->name) == row.name &&
                  std::string_view(before->domain) == row.domain;
    if (isSame) {
      EXPECT_NE(before->until, 0) << row.name;
      EXPECT_LT(before->until, row.since) << row.name;
    }
    before = &row;
  }
}

TEST(Operators, attributesHaveNamesAndTypes) {
  for (const Operator &row : operators()) {
    std::set<std::string_view> names;
    for (const AttributeSpec &spec : attributesOf(row)) {
      EXPECT_FALSE(spec.name.empty()) << row.name;
      EXPECT_NE(spec.type, AttributeType::undefined) << row.name << spec.name;
      EXPECT_TRUE(names.insert(spec.name).second) << row.name << spec.name;
      EXPECT_FALSE(spec.isRequired && !spec.defaultText.empty()) << row.name;
    }
    EXPECT_NE(row.rule, nullptr) << row.name;
  }
}

TEST(Operators, areFoundByVersion) {
  ASSERT_NE(findOperator("", "Softmax", 12), nullptr);
  EXPECT_NE(findOperator("", "Softmax", 12), findOperator("", "Softmax", 13));
  EXPECT_EQ(findOperator("", "Celu", 11), nullptr);
  EXPECT_TRUE(isInAnotherVersion("", "Celu"));
  EXPECT_FALSE(isInAnotherVersion("", "Fancy"));
  EXPECT_EQ(findOperator("com.other", "Relu", 1), nullptr);
}

/// The page is made of the table: where they differ, it is written anew beside
/// the test.
TEST(Operators, pageIsUpToDate) {
  std::ifstream file(SINTER_ONNX_PAGE);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text == operatorsPage())
    return;
  std::ofstream("onnx-operators.md") << operatorsPage();
  FAIL() << "docs/onnx-operators.md differs from the table; onnx-operators.md "
            "in the test's folder is what it should be";
}
