/// Measures memory bandwidth and arithmetic of the threads that kernels get, or
/// of a device.
#include "tools/sinter/Ceilings.h"

#include "runtime/device/ThreadPool.h"
#include "tools/sinter/Measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <string>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace sinter::cli {

using runtime::Ceilings;
using Clock = std::chrono::steady_clock;

/// The least time of a few calls, in seconds.
template <typename F> static double leastSeconds(int calls, F &&function) {
  double least = 0;
  for (int call = 0; call < calls; ++call) {
    Clock::time_point begin = Clock::now();
    function();
    std::chrono::duration<double> time = Clock::now() - begin;
    least = call == 0 ? time.count() : std::min(least, time.count());
  }
  return least;
}

//===- Memory -------------------------------------------------------------===//

namespace {
/// A copy, in chunks.
struct Copy {
  static constexpr size_t chunk = size_t(1) << 20;
  static constexpr int64_t chunks = 128;

  std::unique_ptr<char[]> from{new char[chunk * chunks]};
  std::unique_ptr<char[]> to{new char[chunk * chunks]};

  void run() {
    auto body = [](void *context, int64_t first, int64_t last) {
      auto &copy = *static_cast<Copy *>(context);
      std::memcpy(copy.to.get() + first * chunk,
                  copy.from.get() + first * chunk,
                  size_t(last - first) * chunk);
    };
    sinter_parallel_for(body, this, chunks);
  }
};
} // namespace

static double measureMemory() {
  Copy copy;
  std::memset(copy.from.get(), 1, Copy::chunk * Copy::chunks);
  copy.run(); // the pages of `to` are there from now on
  double seconds = leastSeconds(5, [&] { copy.run(); });
  return 2.0 * Copy::chunk * Copy::chunks / seconds;
}

//===- Arithmetic ---------------------------------------------------------===//

/// Independent chains of multiply-adds, enough to hide the latency of each.
static constexpr int chains = 12;
static constexpr int64_t rounds = 100'000;

/// Keeps a result from being left out.
static volatile float sink;

#ifdef __x86_64__
__attribute__((target("avx512f"))) static void multiplyAdd512() {
  __m512 values[chains];
  for (int i = 0; i < chains; ++i)
    values[i] = _mm512_set1_ps(float(i));
  const __m512 factor = _mm512_set1_ps(0.5f);
  for (int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i)
      values[i] = _mm512_fmadd_ps(values[i], factor, factor);
  for (int i = 0; i < chains; ++i)
    sink = _mm512_cvtss_f32(values[i]);
}

__attribute__((target("avx2,fma"))) static void multiplyAdd256() {
  __m256 values[chains];
  for (int i = 0; i < chains; ++i)
    values[i] = _mm256_set1_ps(float(i));
  const __m256 factor = _mm256_set1_ps(0.5f);
  for (int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i)
      values[i] = _mm256_fmadd_ps(values[i], factor, factor);
  for (int i = 0; i < chains; ++i)
    sink = _mm256_cvtss_f32(values[i]);
}
#endif

static void multiplyAddPlain() {
  float values[chains][4];
  for (int i = 0; i < chains; ++i)
    std::fill_n(values[i], 4, float(i));
  for (int64_t round = 0; round < rounds; ++round)
    for (auto &chain : values)
      for (float &value : chain)
        value = value * 0.5f + 0.5f;
  for (const auto &chain : values)
    sink = chain[0];
}

namespace {
/// What the widest vectors of this machine do in one call.
struct Arithmetic {
  void (*run)() = multiplyAddPlain;
  int lanes = 4;
};
} // namespace

static Arithmetic widestArithmetic() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f"))
    return {multiplyAdd512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {multiplyAdd256, 8};
#endif
  return {};
}

static double measureArithmetic() {
  Arithmetic widest = widestArithmetic();
  auto body = [](void *context, int64_t first, int64_t last) {
    for (; first < last; ++first)
      static_cast<Arithmetic *>(context)->run();
  };
  int64_t calls = runtime::ThreadPool::instance().threads() * 8;
  double seconds =
      leastSeconds(5, [&] { sinter_parallel_for(body, &widest, calls); });
  return 2.0 * chains * widest.lanes * double(rounds) * double(calls) / seconds;
}

//===- Devices ------------------------------------------------------------===//

/// The least time of a call of a text's program, in seconds.
static Result<double> secondsOf(std::string text, const Arguments &arguments) {
  Model model;
  model.text = std::move(text);
  SINTER_TRY_ASSIGN(Runnable runnable, makeRunnable(model, arguments));
  SINTER_TRY_ASSIGN(Times times, measure(runnable, 0.1));
  return times.least / 1e6;
}

// Of square matrices: as large ones as take a device's arithmetic whole, up to
// those that take long.
static Result<double> flopsOfProducts(const Arguments &arguments) {
  constexpr int64_t smallest = 512, largest = 4096;
  constexpr double longSeconds = 0.02;
  double most = 0;
  for (int64_t side = smallest; side <= largest; side *= 2) {
    std::string type = fmt::format("tensor<{0}x{0}xbf16>", side);
    SINTER_TRY_ASSIGN(double seconds, secondsOf(fmt::format(R"(
func.func @main(%x: {0}, %w: {0}) -> {0} {{
  %0 = sinter.matmul %x, %w : ({0}, {0}) -> {0}
  return %0 : {0}
}})",
                                                            type),
                                                arguments));
    most = std::max(most,
                    2.0 * double(side) * double(side) * double(side) / seconds);
    if (seconds > longSeconds)
      break;
  }
  return most;
}

static Result<Ceilings> measureDevice(const Arguments &arguments) {
  constexpr int64_t elements = 64 << 20; // 512 MiB are moved
  std::string type = fmt::format("tensor<{}xf32>", elements);
  SINTER_TRY_ASSIGN(double copy, secondsOf(fmt::format(R"(
func.func @main(%x: {0}) -> {0} {{
  %0 = sinter.neg %x : ({0}) -> {0}
  return %0 : {0}
}})",
                                                       type),
                                           arguments));
  SINTER_TRY_ASSIGN(double flops, flopsOfProducts(arguments));
  return Ceilings{2.0 * sizeof(float) * double(elements) / copy, flops,
                  "measured: a negation of 256 MiB, products of bf16"};
}

Result<Ceilings> measureCeilings(const runtime::Device &device,
                                 const Arguments &arguments) {
  DeviceKind kind = device.id().kind;
  if (kind == DeviceKind::cpu || kind == DeviceKind::null)
    return Ceilings{
        measureMemory(), measureArithmetic(),
        "measured: a copy of 128 MiB, multiply-adds of f32 in registers"};
  return measureDevice(arguments.only({"--device", "--target"}));
}

} // namespace sinter::cli
