/// Memory and threads that run out, at every place in turn: each time the call
/// ends in a sinter::Error or gives what it should, state is as before or as
/// after, and the next step works.
///
/// SINTER_FAILURES says how many failures there are; the full tests have
/// 10,000.
#include "runtime/program/ProgramCache.h"
#include "tests/e2e/failures/FailingCalls.h"

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sn = sinter;

namespace {

/// How many failures this run is to have, of all kinds together.
long numFailures() {
  const char *text = std::getenv("SINTER_FAILURES");
  return text ? std::max(10L, std::strtol(text, nullptr, 10)) : 240;
}

/// What one child writes down for its parent.
struct Report {
  char first[16];   ///< how the call with the failure ended
  char detail[160]; ///< and what was wrong, if anything was
  bool hasFatal;    ///< the C library would have ended the process
};

Report &report() {
  static auto *shared = static_cast<Report *>(
      mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *shared;
}

void say(char *to, size_t size, const std::string &text) {
  std::snprintf(to, size, "%s", text.c_str());
}

//===- What is computed ---------------------------------------------------===//

constexpr unsigned numVariants = 1u << 16;

/// A program of its own for each variant. What the caller has to allocate is
/// there before.
std::vector<float> evaluateOps(unsigned variant) {
  static const sn::Tensor half =
      sn::tensor(std::vector<float>(35, 0.5f), {7, 5});
  sn::Tensor x = half;
  for (unsigned bit = 1; bit < numVariants; bit *= 2)
    x = variant & bit ? sn::maximum(x, 1.0f) : x + 0.5f;
  return (x + sn::sum(x, {0})).to_vector<float>();
}

std::vector<float> expectedOps(unsigned variant) {
  float x = 0.5f;
  for (unsigned bit = 1; bit < numVariants; bit *= 2)
    x = variant & bit ? std::max(x, 1.0f) : x + 0.5f;
  return std::vector<float>(35, x * 8);
}

/// A model of one number a row; a step moves each towards 1.
struct Model {
  explicit Model(int64_t rows)
      : rows(rows), weight(sn::full({rows}, 0.0f), "w"), sgd({.lr = 0.5}) {}

  void step() {
    sn::Tensor error = weight.tensor() - 1.0f;
    sgd.step(weight, (sn::sum(error * error) * 0.5f).backward());
    weight.tensor().eval();
  }
  /// What every element is.
  float value() const { return weight.tensor().to_vector<float>().front(); }

  int64_t rows;
  sn::Param weight;
  sn::optim::Sgd sgd;
};

float afterSteps(int count) {
  float value = 0;
  for (int i = 0; i < count; ++i)
    value -= 0.5f * (value - 1);
  return value;
}

//===- Children -----------------------------------------------------------===//

/// What the last Error said.
char lastError[96];

/// The exception's name; empty where there was none.
std::string endOf(const std::function<void()> &call) {
  try {
    call();
    return "";
  } catch (const sn::Error &error) {
    std::snprintf(lastError, sizeof(lastError), "%s", error.what());
    return "sinter::Error";
  } catch (const std::bad_alloc &) {
    return "std::bad_alloc";
  } catch (const std::system_error &) {
    return "std::system_error";
  } catch (...) {
    return "something else";
  }
}

[[noreturn]] void fail(const std::string &what) {
  say(report().detail, sizeof(Report::detail), what);
  _exit(1);
}

void failNow(Failure failure, long number, const std::function<void()> &call) {
  armFailure(failure, number);
  std::string end = endOf(call);
  bool hasFailed = disarmFailure();
  report().hasFatal = fatalAllocations() != 0;
  say(report().first, sizeof(Report::first),
      !hasFailed    ? "unharmed"
      : end.empty() ? "done"
                    : end);
  if (!end.empty() && end != "sinter::Error")
    fail("the call ended by " + end);
}

void opsInChild(Failure failure, long number, unsigned variant) {
  std::vector<float> expected = expectedOps(variant), values;
  failNow(failure, number, [&] { values = evaluateOps(variant); });
  if (std::string_view(report().first) != "sinter::Error" && values != expected)
    fail("wrong values");
  std::string end = endOf([&] { values = evaluateOps(variant); });
  if (std::strstr(lastError, "the linker does not answer"))
    return say(report().first, sizeof(Report::first), "linker lost");
  if (!end.empty())
    fail("the next evaluation: " + end + ": " + lastError);
  if (values != expected)
    fail("the next evaluation: wrong values");
}

void stepInChild(Failure failure, long number, Model &model, int done) {
  failNow(failure, number, [&] { model.step(); });
  float after = 0;
  std::string end = endOf([&] { after = model.value(); });
  if (!end.empty())
    fail("reading the state: " + end);
  bool isDone = std::string_view(report().first) != "sinter::Error";
  // An error between the step and its end leaves the step recorded.
  if (after != afterSteps(done + 1) && (isDone || after != afterSteps(done)))
    fail("the state is " + std::to_string(after));
  int steps = after == afterSteps(done) ? done : done + 1;
  end = endOf([&] { model.step(); });
  if (!end.empty() || model.value() != afterSteps(steps + 1))
    fail("the next step: " + (end.empty() ? "wrong values" : end));
}

/// Runs `body` in a child, which has a minute. Empty, or what was wrong.
std::string inChild(const std::function<void()> &body) {
  report() = {};
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::string first = report().first[0] ? report().first : "in the call";
  if (WIFSIGNALED(status))
    return first + ", then " +
           (WTERMSIG(status) == SIGALRM
                ? std::string("it hangs")
                : "signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return first + ": " + report().detail;
  return "";
}

long countAllocations(const std::function<void()> &call) {
  armFailure(Failure::allAllocations, 1L << 60);
  call();
  disarmFailure();
  return allocationsSeen();
}

/// `count` failures, spread over the `total` calls there are.
void spread(
    Failure failure, long count, long total,
    const std::function<void(long number)> &body,
    const std::function<void()> &next = [] {}, long mostLost = 0) {
  std::map<std::string, int> ends;
  int wrong = 0, fatal = 0;
  for (long i = 0; i < count; ++i) {
    long number = 1 + (total > count ? total * i / count : i % total);
    next();
    std::string bad = inChild([&] { body(number); });
    ++ends[report().first];
    fatal += report().hasFatal;
    if (bad.empty())
      continue;
    ADD_FAILURE() << "failure " << int(failure) << " at call " << number
                  << " of " << total << ": " << bad;
    if (++wrong == 20)
      break;
  }
  if (failure != Failure::allThreads) {
    EXPECT_LE(4 * ends["unharmed"], count) << "too few of them fail";
  }
  // lld takes a lock around an allocation, at a few places of a link.
  EXPECT_LE(ends["linker lost"], mostLost);
  if (failure == Failure::oneAllocation) {
    EXPECT_LE(fatal, 1 + count / 50);
  }
  std::printf("  %5d would have ended in the C library\n", fatal);
  for (const auto &[end, times] : ends)
    std::printf("  %5d %s\n", times, end.c_str());
}

constexpr std::array allocationFailures = {Failure::oneAllocation,
                                           Failure::allAllocations};

} // namespace

//===- Tests --------------------------------------------------------------===//

TEST(Failures, AllocationsOfAKnownProgram) {
  evaluateOps(1);
  evaluateOps(1);
  long total = countAllocations([] { evaluateOps(1); });
  ASSERT_GT(total, 0);
  for (Failure failure : allocationFailures)
    spread(failure, numFailures() / 8, total,
           [&](long number) { opsInChild(failure, number, 1); });
}

namespace {

/// `count` failures of each kind in the last `1 / part` of a compilation of
/// `first`, and of as many variants after it that are as long. The linker may
/// be lost `mostLost` times of each kind.
void failCompilations(unsigned first, long count, long part, long mostLost) {
  unsigned variant = first;
  long total = countAllocations([&] { evaluateOps(first); });
  ASSERT_GT(total, 1000);
  auto next = [&] {
    do
      --variant;
    while (std::popcount(variant) != std::popcount(first));
  };
  long numCalls = total / part;
  for (Failure failure : allocationFailures)
    spread(
        failure, count, numCalls,
        [&](long number) {
          // What LLVM keeps for a thread goes with it.
          std::thread([&] {
            opsInChild(failure, total - numCalls + number, variant);
          }).join();
        },
        next, mostLost);
}

} // namespace

TEST(Failures, AllocationsOfACompilation) {
  evaluateOps(0x00ff);
  evaluateOps(0xf00f);
  long count = numFailures() / 5;
  failCompilations(0xff00, count, 1, 1 + count / 500);
}

/// The linker is the last, short part, and holds a lock.
TEST(Failures, AllocationsOfALink) {
  evaluateOps(0x007f);
  evaluateOps(0xe00f);
  long count = numFailures() / 10;
  failCompilations(0xfe00, count, 16, 1 + count / 100);
}

/// The first of the children compiles, the others find the file.
TEST(Failures, AllocationsOfAProgramOnDisk) {
  evaluateOps(2);
  EXPECT_EQ(inChild([] { evaluateOps(3); }), "");
  sn::runtime::clearMemoryCache();
  long total = countAllocations([] { evaluateOps(2); });
  for (Failure failure : allocationFailures)
    spread(failure, numFailures() / 20, total,
           [&](long number) { opsInChild(failure, number, 3); });
}

TEST(Failures, AllocationsOfATrainingStep) {
  Model model(9);
  int done = 0;
  for (; done < 3; ++done)
    model.step();
  long total = countAllocations([&] { model.step(); });
  ++done;
  for (Failure failure : allocationFailures)
    spread(failure, numFailures() / 10, total,
           [&](long number) { stepInChild(failure, number, model, done); });
}

namespace {

/// Layers of every kind of use: saved, loaded, copied, jitted, printed.
struct Net {
  sn::nn::Linear first{3, 4}, second{4, 2};
  sn::Tensor forward(const sn::Tensor &x) const {
    return second(sn::tanh(first(x)));
  }
  SINTER_MODULE(Net, first, second)
};

/// A call whose results can be told to be whole.
struct Use {
  const char *name;
  std::function<void()> call;
  std::function<bool()> isWhole;
};

void failUses(const std::vector<Use> &uses) {
  for (const Use &use : uses) {
    SCOPED_TRACE(use.name);
    use.call();
    use.call();
    ASSERT_TRUE(use.isWhole());
    long total = countAllocations(use.call);
    for (Failure failure : allocationFailures)
      spread(failure, std::min(total, numFailures() / 40), total,
             [&](long number) {
               failNow(failure, number, use.call);
               std::string end = endOf(use.call);
               if (!end.empty() || !use.isWhole())
                 fail("the next call: " + (end.empty() ? "not whole" : end));
             });
  }
}

} // namespace

// Only children are at the line of the call, each for the first time.
TEST(Failures, AllocationsAtALineThatWasNotMetYet) {
  Net net;
  sn::Tensor x = sn::full({2, 3}, 0.5f);
  net(x).eval();
  for (Failure failure : allocationFailures)
    for (long number : {1, 2, 3, 4}) {
      std::string bad = inChild(
          [&] { failNow(failure, number, [&] { sn::Tensor y = net(x); }); });
      EXPECT_EQ(bad, "") << int(failure) << " at call " << number;
    }
}

TEST(Failures, AllocationsOfOtherCalls) {
  Net net, other;
  sn::Tensor x = sn::full({2, 3}, 0.5f), y;
  x.eval();
  std::vector<float> expected = net(x).to_vector<float>(), values;
  std::string file = testing::TempDir() + "failures-net.safetensors", text;
  auto jitted =
      sn::jit([](const Net &model, const sn::Tensor &in) { return model(in); });
  Net copy;
  sn::Gradients gradients;
  failUses({
      {"forward", [&] { values = net(x).to_vector<float>(); },
       [&] { return values == expected; }},
      {"jit", [&] { values = jitted(net, x).to_vector<float>(); },
       [&] { return values == expected; }},
      {"save", [&] { net.save(file); },
       [&] {
         Net read;
         read.load(file);
         return read(x).to_vector<float>() == expected;
       }},
      {"load", [&] { other.load(file); },
       [&] { return other(x).to_vector<float>() == expected; }},
      {"cast", [&] { copy = net.cast(sn::DType::f32); },
       [&] { return copy(x).to_vector<float>() == expected; }},
      {"print", [&] { text = net(x).to_string(); },
       [&] { return text.find("tensor") != std::string::npos; }},
      {"backward",
       [&] {
         gradients = sn::sum(net(x)).backward();
         y = gradients(net.first.weight);
         y.eval();
       },
       [&] { return y.numel() == 12; }},
  });
  std::remove(file.c_str());
}

/// The pool starts, and several kernels are compiled.
TEST(Failures, ThreadsOfAProgram) {
  constexpr int64_t large = int64_t(1) << 20;
  auto run = [&](int64_t columns) {
    sn::Tensor x = sn::full({large / columns, columns}, 0.5f);
    sn::Tensor rows = sn::sum(sn::exp(x - 0.5f) * 2.0f, {1});
    return sn::sum(rows * rows).item<float>() / float(columns);
  };
  run(64); // the compiler; the pool is made in each child
  spread(Failure::allThreads, std::max(6L, numFailures() / 20), 3,
         [&](long number) {
           float value = 0;
           failNow(Failure::allThreads, number, [&] { value = run(128); });
           if (report().first == std::string_view("sinter::Error"))
             fail("it needs no thread");
           if (value != 4 * float(large) || run(256) != value)
             fail("wrong values");
         });
}

TEST(Failures, ThreadsOfALoader) {
  sn::data::InMemory<int> items(std::vector<int>(64, 1));
  auto sum = [&] {
    sn::data::DataLoader loader(items, {.batch_size = 4, .workers = 3},
                                [](const std::vector<int> &batch) {
                                  return static_cast<int>(batch.size());
                                });
    int all = 0;
    for (int part : loader)
      all += part;
    return all;
  };
  spread(Failure::allThreads, 6, 3, [&](long number) {
    failNow(Failure::allThreads, number, [&] { sum(); });
    if (std::string_view(report().first) == "done")
      fail("no error");
    if (sum() != 64)
      fail("the next loop");
  });
}
