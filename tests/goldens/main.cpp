/// sinter-golden: runs the golden cases of a folder and prints how many
/// passed, by category.
#include "sinter/generated/SourceDigest.h"
#include "sinter/runtime/OpTable.h"
#include "tests/goldens/Isolated.h"
#include "tests/goldens/Ratchet.h"
#include "tests/goldens/Ways.h"
#include "tests/goldens/torch/TorchCall.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

using namespace sinter;
using namespace sinter::goldens;

static constexpr const char *usage = R"(usage: sinter-golden FOLDER [OPTION...]

FOLDER holds an index.json and files of tensors. Exit code 0 when every case
passed.

  --category NAME        the cases of one category alone
  --except NAME          not those of this category
  --share N              one case in N, others for other sources of the compiler
  --unsupported PERCENT  how many cases may be unsupported; else none
  --ratchet FILE         the cases that must pass: more than FILE says may pass,
                         fewer not
  --accept               adds the cases that pass to the ratchet
  --list                 says of each unsupported case why it is
  --isolated             cases run in a process of their own; one that ends it
                         has failed, and the next run in a new one
)";

namespace {

struct RunOptions {
  std::string folder, category, except, ratchet;
  double unsupported = 0;
  unsigned share = 1;
  bool accept = false, list = false, isolated = false;
};

struct Count {
  int passed = 0, failed = 0, unsupported = 0;

  void add(Verdict verdict) {
    passed += verdict == Verdict::passed;
    failed += verdict == Verdict::failed;
    unsupported += verdict == Verdict::unsupported;
  }
  void print(const std::string &name) const {
    std::printf("%s: %d passed, %d failed, %d unsupported\n", name.c_str(),
                passed, failed, unsupported);
  }
};

/// One run over a suite.
class Session {
public:
  Session(const RunOptions &options, Ratchet ratchet)
      : options(options), ratchet(std::move(ratchet)) {}

  void count(const Case &golden, Outcome outcome);
  /// The exit code.
  int finish();

private:
  void report(const Case &golden, const Outcome &outcome);

  const RunOptions &options;
  Ratchet ratchet;
  std::map<std::string, Count> counts;
  Count all;
  int lost = 0; ///< passed before
};

} // namespace

static std::optional<RunOptions> parse(int argc, char **argv) {
  RunOptions options;
  for (int i = 1; i < argc; ++i) {
    std::string_view flag = argv[i];
    bool hasValue = i + 1 < argc;
    if (flag == "--accept")
      options.accept = true;
    else if (flag == "--list")
      options.list = true;
    else if (flag == "--isolated")
      options.isolated = true;
    else if (flag == "--category" && hasValue)
      options.category = argv[++i];
    else if (flag == "--except" && hasValue)
      options.except = argv[++i];
    else if (flag == "--share" && hasValue)
      options.share =
          unsigned(std::max(1L, std::strtol(argv[++i], nullptr, 10)));
    else if (flag == "--ratchet" && hasValue)
      options.ratchet = argv[++i];
    else if (flag == "--unsupported" && hasValue)
      options.unsupported = std::strtod(argv[++i], nullptr);
    else if (!flag.starts_with('-') && options.folder.empty())
      options.folder = flag;
    else
      return std::nullopt;
  }
  bool isWhole = !options.accept || !options.ratchet.empty();
  if (options.folder.empty() || !isWhole)
    return std::nullopt;
  return options;
}

/// An op of the table must not be unsupported under its own name.
static bool isInTable(std::string_view op) {
  return graph::findOp(op) != graph::noOp;
}

/// Whether a case is of those that are run.
static bool isChosen(const RunOptions &options, const Case &golden) {
  if (!options.category.empty() && golden.category != options.category)
    return false;
  if (!options.except.empty() && golden.category == options.except)
    return false;
  std::hash<std::string> hash;
  return hash(golden.id + sourceDigest) % options.share == 0;
}

/// Says what is wrong with a case, if something is.
void Session::report(const Case &golden, const Outcome &outcome) {
  const char *id = golden.id.c_str(), *op = golden.op.c_str();
  bool hasPassed = outcome.verdict == Verdict::passed;
  if (outcome.verdict == Verdict::failed ||
      (outcome.verdict == Verdict::unsupported && options.list))
    std::printf("%s %s: %s\n", id, op, outcome.why.c_str());
  if (!hasPassed && ratchet.contains(golden.id)) {
    std::printf("%s %s has passed before\n", id, op);
    ++lost;
  }
  std::fflush(stdout);
}

void Session::count(const Case &golden, Outcome outcome) {
  if (outcome.verdict == Verdict::unsupported && !isTorchCall(golden) &&
      isInTable(golden.op)) {
    outcome.verdict = Verdict::failed;
    outcome.why = "the op table has this op: " + outcome.why;
  }
  report(golden, outcome);
  if (outcome.verdict == Verdict::passed && options.accept)
    ratchet.add(golden.id, golden.op);
  counts[golden.category].add(outcome.verdict);
  all.add(outcome.verdict);
}

int Session::finish() {
  for (const auto &[category, count] : counts)
    count.print(category);
  all.print("all");
  if (options.accept) {
    if (auto written = ratchet.write(); !written) {
      std::fprintf(stderr, "error: %s\n", written.error().message.c_str());
      return 2;
    }
    std::printf("%s holds %zu cases\n", options.ratchet.c_str(),
                ratchet.size());
  }
  int count = all.passed + all.failed + all.unsupported;
  bool isTooMuch = all.unsupported > options.unsupported / 100 * count;
  bool isGood = all.failed == 0 && lost == 0 && !isTooMuch;
  return all.passed > 0 && isGood ? 0 : 1;
}

int main(int argc, char **argv) {
  std::optional<RunOptions> options = parse(argc, argv);
  if (!options) {
    std::fputs(usage, stderr);
    return 2;
  }
  auto suite = readSuite(options->folder);
  auto ratchet = options->ratchet.empty() ? Result<Ratchet>(Ratchet())
                                          : Ratchet::read(options->ratchet);
  if (!suite || !ratchet) {
    std::fprintf(stderr, "error: %s\n",
                 (!suite ? suite.error() : ratchet.error()).message.c_str());
    return 2;
  }
  for (Case &golden : *suite)
    ratchet->correct(golden);
  Session session(*options, std::move(*ratchet));
  std::vector<const Case *> chosen;
  for (const Case &golden : *suite)
    if (isChosen(*options, golden))
      chosen.push_back(&golden);
  auto count = [&](const Case &golden, const Outcome &outcome) {
    session.count(golden, outcome);
  };
  if (options->isolated)
    runIsolated(chosen, runCase, count);
  else
    for (const Case *golden : chosen)
      count(*golden, runCase(*golden));
  return session.finish();
}
