/// A host's floating-point environment and locale change no number, and are as
/// before afterwards; a child process computes, too.
#include "tests/Sanitized.h"

#include "runtime/device/Device.h"
#include "runtime/support/FloatingPoint.h"

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstring>
#include <functional>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace sn = sinter;

namespace {

//===- Floating point -----------------------------------------------------===//

/// Results as bits: of kernels that run on one thread and on all, of numbers
/// that are recorded, of state, of conversions. Each asks for programs and
/// values anew.
std::vector<uint32_t> bitsOfResults(int round) {
  std::vector<uint32_t> bits;
  auto add = [&](const sn::Tensor &x) {
    for (float value : x.to_vector<float>()) {
      bits.emplace_back();
      std::memcpy(&bits.back(), &value, 4);
    }
  };
  int64_t small = 5 + round, large = (int64_t(1) << 18) + round;
  for (int64_t n : {small, large}) {
    sn::Tensor tiny = sn::tensor(std::vector<float>(size_t(n), 1e-40f), {n});
    sn::Tensor third = sn::iota({n}, 0, {sn::DType::f32}) / 3.0f;
    sn::Tensor sums = tiny * 3.0f + tiny, exps = sn::exp(third * 1e-3f);
    add(sn::slice(sums, {0}, {5}, {1}));
    add(sn::slice(exps, {0}, {5}, {1}));
    add(sn::sum(third) / 7.0f);
    add(sn::slice(third.to(sn::DType::f16).to(sn::DType::f32), {0}, {5}, {1}));
  }
  add(sn::full({2}, 1e-40) * sn::scalar(1.0));
  add(sn::full({2}, 0.1));
  // Doubles: a host that knows no small floats makes zeros of them itself.
  sn::Param weight(sn::full({small}, 1e-39), "w");
  sn::optim::Sgd sgd({.lr = 0.1});
  sgd.step(weight, sn::sum(weight.tensor() * 1e-39).backward());
  add(weight.tensor());
  return bits;
}

/// A mode that a host may have set.
struct Mode {
  const char *name;
  std::function<void()> set;
};

std::vector<Mode> modes() {
  std::vector<Mode> list = {
      {"upward", [] { std::fesetround(FE_UPWARD); }},
      {"downward", [] { std::fesetround(FE_DOWNWARD); }},
      {"towards zero", [] { std::fesetround(FE_TOWARDZERO); }},
  };
#if defined(__SSE2__)
  list.push_back({"FTZ and DAZ", [] { _mm_setcsr(_mm_getcsr() | 0x8040); }});
  list.push_back({"traps", [] { _mm_setcsr(0x1f80 & ~0x0280u); }});
#endif
  return list;
}

/// In a child, so that nothing was computed or started before.
void expectSameBits(const Mode &mode, const std::vector<uint32_t> &expected) {
  std::vector<uint32_t> found;
  unsigned before = 0, after = 0;
  std::thread thread([&] {
    mode.set();
#if defined(__SSE2__)
    before = _mm_getcsr() & 0xffc0;
#endif
    int rounding = std::fegetround();
    found = bitsOfResults(0);
    EXPECT_EQ(std::fegetround(), rounding);
#if defined(__SSE2__)
    after = _mm_getcsr() & 0xffc0;
#endif
    sn::DefaultFloats floats;
  });
  thread.join();
  EXPECT_EQ(found, expected);
  EXPECT_EQ(after, before);
}

//===- Processes ----------------------------------------------------------===//

/// Runs `body` in a child that has a minute; what it gives to _exit.
int inChild(const std::function<int()> &body) {
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

bool computes(int64_t n) {
  sn::Tensor x = sn::iota({n}, 0) * 2;
  return sn::sum(x).item<int64_t>() == n * (n - 1);
}

} // namespace

TEST(Hosts, FloatingPointModes) {
  std::vector<uint32_t> expected = bitsOfResults(0);
  for (const Mode &mode : modes()) {
    SCOPED_TRACE(mode.name);
    expectSameBits(mode, expected);
  }
}

TEST(Hosts, FloatingPointModesOfTheFirstUse) {
  std::vector<uint32_t> expected = bitsOfResults(1);
  for (const Mode &mode : modes()) {
    SCOPED_TRACE(mode.name);
    // The child's pool of threads starts in the mode.
    EXPECT_EQ(inChild([&] {
                mode.set();
                return bitsOfResults(1) == expected ? 0 : 1;
              }),
              0);
  }
}

namespace {
/// Commas for points, points between thousands.
struct Decimal : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};
} // namespace

TEST(Hosts, Locale) {
  sn::Tensor x = sn::tensor({1234567.5f, 0.25f});
  std::string printed = x.to_string(), type = x.explain();
  std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new Decimal));
  for (const char *name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"})
    if (std::setlocale(LC_ALL, name))
      break;
  EXPECT_EQ(x.to_string(), printed);
  EXPECT_EQ(x.explain(), type);
  std::ostringstream stream;
  stream << x;
  EXPECT_EQ(stream.str(), printed);
  // A program that was not compiled before, with numbers in its texts.
  EXPECT_EQ((sn::full({1234, 3}, 0.125f) * 1.5f).to_vector<float>()[0],
            0.1875f);
  std::locale::global(before);
  std::setlocale(LC_ALL, "C");
}

TEST(Hosts, AChildComputes) {
  ASSERT_TRUE(computes(100));
  ASSERT_TRUE(computes(1 << 20)); // by all threads
  EXPECT_EQ(inChild([] { return computes(100) ? 0 : 1; }), 0);
  EXPECT_EQ(inChild([] { return computes(1 << 20) ? 0 : 1; }), 0);
  EXPECT_EQ(inChild([] { return computes(101) ? 0 : 1; }), 0); // compiles
  EXPECT_EQ(
      inChild([] { return inChild([] { return computes(1 << 20) ? 0 : 1; }); }),
      0);
}

/// What another thread has locked stays locked in the child: an Error, where it
/// would hang.
TEST(Hosts, AChildOfAProcessThatComputes) {
  auto body = [](std::span<const sn::Tensor> carries,
                 std::span<const sn::Tensor>) {
    return sn::ScanStep{{carries[0] * 1.0001f + 0.5f}, {}};
  };
  std::vector<sn::Tensor> init{sn::full({20000}, 1.0f)};
  auto loop = [&](int64_t steps) {
    return sn::scan(body, init, {}, {.length = sn::Dim(steps)}).carries[0];
  };
  constexpr int64_t steps = 8'000'000;
  sn::CancelToken token;
  std::atomic<bool> hasBegun{false};
  std::thread other([&] {
    loop(2).eval();
    sn::Tensor x = loop(steps);
    hasBegun = true;
    sn::cancel_scope scope(token);
    EXPECT_THROW(x.eval(), sn::Cancelled);
  });
  while (!hasBegun)
    std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(inChild([] {
              try {
                computes(100);
                return 1;
              } catch (const sn::Error &error) {
                return error.message().find("forked") == std::string::npos ? 2
                                                                           : 0;
              }
            }),
            0);
  token.cancel();
  other.join();
  EXPECT_EQ(inChild([] { return computes(100) ? 0 : 1; }), 0);
}

TEST(Hosts, AChildOfBackgroundCompilations) {
  sn::set_background_compile(true);
  for (int64_t n = 300; n < 306; ++n)
    EXPECT_TRUE(computes(n));
  EXPECT_EQ(inChild([] {
              sn::wait_for_background();
              return computes(400) ? 0 : 1;
            }),
            0);
  sn::wait_for_background();
  sn::set_background_compile(false);
}

TEST(Hosts, AChildHasNoWorkersOfALoader) {
  sn::data::InMemory<int> items(std::vector<int>(64, 1));
  sn::data::DataLoader loader(
      items, {.batch_size = 4, .workers = 2},
      [](const std::vector<int> &batch) { return int(batch.size()); });
  auto batch = loader.begin();
  ++batch;
  EXPECT_EQ(inChild([&] {
              try {
                for (int i = 0; i < 20; ++i)
                  ++batch;
                return 1;
              } catch (const sn::Error &error) {
                if (error.message().find("fork") == std::string::npos)
                  return 2;
              }
              int count = 0;
              for (int size : loader) // begins again
                count += size;
              return count > 0 ? 0 : 3;
            }),
            0);
  while (batch != loader.end())
    ++batch;
}

/// Evaluates nothing, and uses what all threads share: lines, expressions,
/// memory, tables of tensors
/// and of parameters, counters, errors.
static void usesTables(int64_t n) {
  sn::Tensor x = sn::tensor(std::vector<float>(size_t(n % 50 + 1), 1.f));
  x.dynamic(0);
  sn::Param weight(sn::tensor(std::vector<float>(size_t(n % 7 + 1), 1.f)), "w");
  sn::Tensor y = sn::sum(x * 2) + sn::sum(weight.tensor());
  (void)sn::stats();
  EXPECT_THROW(sn::matmul(x, y), sn::Error);
}

// Threads are inside of every table at some fork. That there are such tables is
// a matter of the first use.
TEST(Hosts, AChildOfThreadsInsideTables) {
  if (sn::hasAddressSanitizer())
    GTEST_SKIP() << "AddressSanitizer's own allocator stays locked in a child";
  usesTables(0);
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int64_t seed : {1, 2, 3})
    threads.emplace_back([&, seed] {
      for (int64_t n = seed; !ends; n += 3)
        usesTables(n);
    });
  int failed = 0;
  for (int64_t i = 0; i < 100; ++i)
    failed += inChild([i] {
                try {
                  usesTables(i);
                  return computes(100 + i % 3) ? 0 : 1;
                } catch (const sn::Error &error) {
                  std::fprintf(stderr, "%s\n", error.what());
                  return 2;
                }
              }) != 0;
  ends = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failed, 0);
}

TEST(Hosts, AHookForks) {
  sn::Tensor x = sn::full({3}, 2.0f).require_grad();
  sn::Tensor y = x * x;
  int child = -1;
  sn::HookHandle hook = y.register_hook(
      [&](const sn::Tensor &) { child = inChild([] { return 0; }); });
  EXPECT_EQ(sn::sum(y).backward()(x).to_vector<float>()[0], 4);
  EXPECT_EQ(child, 0);
}

TEST(Hosts, SignalsStayTheHosts) {
  struct sigaction own = {}, found = {}, before[3];
  own.sa_handler = [](int) {};
  constexpr int signals[] = {SIGSEGV, SIGBUS, SIGABRT};
  for (int i = 0; i < 3; ++i)
    sigaction(signals[i], &own, &before[i]);
  for (int64_t n = 500; n < 503; ++n)
    EXPECT_TRUE(computes(n));
  for (int i = 0; i < 3; ++i) {
    sigaction(signals[i], &before[i], &found);
    EXPECT_EQ(found.sa_handler, own.sa_handler) << signals[i];
  }
}

/// Devices with drivers say what a child cannot do, and why.
TEST(Hosts, AChildHasNoDriversOfItsParent) {
  int tried = 0;
  for (sn::DeviceId id : sn::runtime::availableDevices()) {
    if (id.kind != sn::DeviceKind::vulkan && id.kind != sn::DeviceKind::cuda)
      continue;
    ++tried;
    sn::Tensor x = sn::full({4}, 1.0f, {.device = id}) + 1;
    x.eval();
    EXPECT_EQ(inChild([&] {
                int errors = 0;
                for (auto use : std::vector<std::function<void()>>{
                         [&] { x.to_vector<float>(); }, [&] { (x * 2).eval(); },
                         [&] { sn::full({2}, 1.0f, {.device = id}).eval(); }})
                  try {
                    use();
                  } catch (const sn::Error &error) {
                    errors += error.message().find("fork") != std::string::npos;
                  }
                return errors == 3 && computes(100) ? 0 : 1;
              }),
              0)
        << toString(id);
    EXPECT_EQ(x.to_vector<float>()[0], 2);
  }
  if (tried == 0)
    GTEST_SKIP() << "no such device here";
}
