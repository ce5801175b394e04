#include "tests/goldens/Isolated.h"

#include <csignal>
#include <gtest/gtest.h>

using namespace sinter::goldens;

namespace {

Outcome runCase(const Case &golden) {
  if (golden.id == "faults")
    std::raise(SIGKILL);
  if (golden.id == "leaves")
    std::exit(3);
  if (golden.id == "ends")
    std::atexit([] { std::raise(SIGABRT); });
  if (golden.id == "fails")
    return {Verdict::failed, "two lines,\n2 of them "};
  return {};
}

std::vector<std::string> outcomes(std::initializer_list<const char *> ids) {
  std::vector<Case> cases;
  for (const char *id : ids)
    cases.emplace_back().id = id;
  std::vector<const Case *> chosen;
  for (const Case &golden : cases)
    chosen.push_back(&golden);
  std::vector<std::string> texts;
  runIsolated(chosen, runCase, [&](const Case &golden, const Outcome &outcome) {
    bool hasFailed = outcome.verdict == Verdict::failed;
    texts.push_back(golden.id + (hasFailed ? ": " + outcome.why : ""));
  });
  return texts;
}

using Texts = std::vector<std::string>;

} // namespace

TEST(Isolated, reportsInOrder) {
  EXPECT_EQ(outcomes({}), Texts());
  EXPECT_EQ(outcomes({"a", "fails", "b"}),
            (Texts{"a", "fails: two lines,\n2 of them ", "b"}));
}

TEST(Isolated, goesOnWhenACaseEndsItsProcess) {
  EXPECT_EQ(outcomes({"a", "faults", "b", "leaves", "leaves", "fails"}),
            (Texts{"a", "faults: its process died: Killed", "b",
                   "leaves: its process died: exit code 3",
                   "leaves: its process died: exit code 3",
                   "fails: two lines,\n2 of them "}));
}

TEST(Isolated, reportsADeathBehindTheCases) {
  EXPECT_EQ(outcomes({"ends", "a"}),
            (Texts{"ends", "a", "a: its process died: Aborted"}));
}
