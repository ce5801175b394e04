/// Flags: the table of environment variables.
#include "runtime/support/Flags.h"

#include "sinter/runtime/Log.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

using namespace sinter;

namespace {
class FlagsTest : public testing::Test {
protected:
  void set(const char *name, const char *value) {
    setenv(name, value, 1);
    names.insert(name);
    reloadFlags();
  }
  void TearDown() override {
    for (const std::string &name : names)
      unsetenv(name.c_str());
    reloadFlags();
  }
  std::set<std::string> names;
};
} // namespace

TEST_F(FlagsTest, ReadsEachType) {
  set("SINTER_THREADS", "3");
  set("SINTER_EAGER", "1");
  set("SINTER_DUMP", "fuse,plan");
  EXPECT_EQ(flags().threads, 3);
  EXPECT_TRUE(flags().eager);
  EXPECT_EQ(flags().dump, "fuse,plan");
}

TEST_F(FlagsTest, WarnsAboutWhatDoesNotParse) {
  uint64_t before = warningCount();
  set("SINTER_THREADS", "many");
  EXPECT_EQ(flags().threads, 0);
  EXPECT_GT(warningCount(), before);
  set("SINTER_THREADS", "-1");
  EXPECT_EQ(flags().threads, 0);
}

TEST_F(FlagsTest, TableDocumentsEveryVariable) {
  std::set<std::string_view> variables;
  for (const FlagInfo &row : flagTable()) {
    EXPECT_TRUE(row.variable.starts_with("SINTER_"));
    EXPECT_FALSE(row.summary.empty());
    EXPECT_TRUE(variables.insert(row.variable).second);
  }
  EXPECT_TRUE(variables.contains("SINTER_DEVICE"));
}
