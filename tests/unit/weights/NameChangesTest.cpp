/// Names of files as paths of modules.
#include "frontend/weights/NameChanges.h"

#include "tests/Sanitized.h"
#include "tests/unit/weights/WeightFiles.h"

#include <gmock/gmock.h>

#include <ctime>

using namespace sinter;
using sinter::detail::ChangedName;
using sinter::detail::NameChanges;
using sinter::weights_test::problem;
using testing::HasSubstr;

namespace {

using Fate = ChangedName::Fate;

std::string pathOf(const std::string &name, const LoadStateOptions &options) {
  ChangedName changed = NameChanges(options, "test", {}).of(name);
  return changed.fate == Fate::wanted ? changed.path : "";
}

Fate fateOf(const std::string &name, const LoadStateOptions &options) {
  return NameChanges(options, "test", {}).of(name).fate;
}

} // namespace

TEST(NameChanges, PatternsAreThoseOfEcmaScript) {
  auto renamed = [](const char *pattern, const char *replacement,
                    const char *name) {
    return pathOf(name, {.rename = {{pattern, replacement}}});
  };
  EXPECT_EQ(renamed(R"(^encoder\.layer\.(\d+)\.)", "layers.$1.",
                    "encoder.layer.12.attention.weight"),
            "layers.12.attention.weight");
  EXPECT_EQ(renamed("gamma$", "weight", "norm.gamma"), "norm.weight");
  EXPECT_EQ(renamed("/", ".", "a/b/c"), "a.b.c");
  EXPECT_EQ(renamed("(a|ab)(c|bcd)", "<$1,$2>", "abcd"), "<a,bcd>");
  EXPECT_EQ(renamed("a+?", "x", "aaa"), "xxx");
  EXPECT_EQ(renamed("[0-9]+", "$&$&", "l3"), "l33");
  EXPECT_EQ(renamed("b(?=c)", "x", "abcbd"), "axcbd");
  EXPECT_EQ(renamed("nothing", "x", "a.b"), "a.b");
}

TEST(NameChanges, OneAfterTheOther) {
  LoadStateOptions options;
  options.top_level_key = "state_dict";
  options.prefix = "module.";
  options.rename = {{"^h\\.", "layers."}, {"\\.g$", ".weight"}};
  options.map_key = [](const std::string &name) -> std::optional<std::string> {
    if (name.ends_with(".mask"))
      return std::nullopt;
    return name + "!";
  };
  EXPECT_EQ(pathOf("state_dict.module.h.0.g", options), "layers.0.weight!");
  EXPECT_EQ(fateOf("optimizer.module.h.0.g", options), Fate::left);
  EXPECT_EQ(fateOf("state_dict.h.0.g", options), Fate::unused);
  EXPECT_EQ(fateOf("state_dict.module.h.0.mask", options), Fate::unwanted);
  options.only = "^layers\\.1\\.";
  EXPECT_EQ(fateOf("state_dict.module.h.0.g", options), Fate::unwanted);
  EXPECT_EQ(fateOf("state_dict.module.h.1.g", options), Fate::wanted);
}

TEST(NameChanges, WhatIsNoPatternIsAnError) {
  for (const char *pattern : {"(", "[a", "*", "a{2,1}"})
    EXPECT_THAT(problem([&] { pathOf("a", {.only = pattern}); }),
                HasSubstr(std::string("pattern '") + pattern + "'"))
        << pattern;
  EXPECT_THAT(problem([] { pathOf("a", {.only = "(a)\\1"}); }),
              HasSubstr("references back"));
}

/// Names come from files: they neither take long nor the stack.
TEST(NameChanges, HostileNamesAreHarmless) {
  auto processorSeconds = [] {
    return double(std::clock()) / double(CLOCKS_PER_SEC);
  };
  double start = processorSeconds();
  std::string name(4096, 'a');
  EXPECT_EQ(fateOf(name, {.only = "^(a+)+b$"}), Fate::unwanted);
  EXPECT_EQ(fateOf(name, {.only = "^(a|a)*b$"}), Fate::unwanted);
  EXPECT_EQ(fateOf(name, {.only = "(.*)(.*)(.*)b"}), Fate::unwanted);
  // What grows by powers would not end.
  EXPECT_LT(processorSeconds() - start, hasAddressSanitizer() ? 200 : 20);
  EXPECT_THAT(problem([&] { pathOf(name + "a", {.only = "a"}); }),
              HasSubstr("4097 bytes is too long for patterns"));
  EXPECT_EQ(pathOf(name + "a", {}), name + "a");
}
