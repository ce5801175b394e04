/// golden-runner FOLDER [CATEGORY]: runs the golden cases of a folder and
/// prints how many passed, by category. Exit code 0 when all did.
#include "tests/goldens/Ways.h"

#include <cstdio>
#include <map>
#include <string_view>

using namespace sinter::goldens;

namespace {
struct Count {
  int passed = 0, failed = 0, unsupported = 0;

  void add(Verdict verdict) {
    passed += verdict == Verdict::passed;
    failed += verdict == Verdict::failed;
    unsupported += verdict == Verdict::unsupported;
  }
};
} // namespace

static void print(const std::string &category, const Count &count) {
  std::printf("%s: %d passed, %d failed, %d unsupported\n", category.c_str(),
              count.passed, count.failed, count.unsupported);
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: golden-runner FOLDER [CATEGORY]\n");
    return 2;
  }
  auto suite = readSuite(argv[1]);
  if (!suite) {
    std::fprintf(stderr, "error: %s\n", suite.error().message.c_str());
    return 2;
  }
  std::map<std::string, Count> counts;
  Count all;
  for (const Case &golden : *suite) {
    if (argc == 3 && golden.category != argv[2])
      continue;
    Outcome outcome = runCase(golden);
    if (outcome.verdict == Verdict::failed)
      std::printf("%s %s: %s\n", golden.id.c_str(), golden.op.c_str(),
                  outcome.why.c_str());
    counts[golden.category].add(outcome.verdict);
    all.add(outcome.verdict);
  }
  for (const auto &[category, count] : counts)
    print(category, count);
  print("all", all);
  return all.passed > 0 && all.failed + all.unsupported == 0 ? 0 : 1;
}
