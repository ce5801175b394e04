/// The loop that answers the driver's lines.
#include "tools/benchmarks/native/Worker.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <time.h>
#include <unistd.h>

using namespace bench;

//===- Cases and their inputs ---------------------------------------------===//

Case::Case(std::string_view words) {
  std::istringstream stream{std::string(words)};
  for (std::string word; stream >> word;) {
    size_t equals = word.find('=');
    if (equals == std::string::npos)
      throw std::invalid_argument("not KEY=VALUE: " + word);
    values[word.substr(0, equals)] = word.substr(equals + 1);
  }
}

std::string Case::text(const std::string &key, std::string fallback) const {
  auto found = values.find(key);
  return found == values.end() ? fallback : found->second;
}

int64_t Case::number(const std::string &key) const {
  if (!values.contains(key))
    throw std::invalid_argument("the case has no " + key);
  return number(key, 0);
}

int64_t Case::number(const std::string &key, int64_t fallback) const {
  auto found = values.find(key);
  return found == values.end() ? fallback : std::stoll(found->second);
}

/// 32 well-mixed bits of a position.
static uint32_t mix(uint32_t position, uint32_t seed) {
  uint32_t x = position + seed * 0x9E3779B9u;
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return x ^ (x >> 16);
}

void bench::fill(std::span<float> values, uint32_t seed, float scale) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (float(mix(i, seed) >> 8) * 0x1p-23f - 1) * scale;
}

std::vector<float> bench::filled(size_t count, uint32_t seed, float scale) {
  std::vector<float> values(count);
  fill(values, seed, scale);
  return values;
}

std::vector<int8_t> bench::filledBytes(size_t count, uint32_t seed, int limit) {
  std::vector<int8_t> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = int8_t(int(mix(i, seed) % (2 * limit + 1)) - limit);
  return values;
}

//===- Measuring ----------------------------------------------------------===//

static double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}
static double now() { return seconds(CLOCK_MONOTONIC); }

namespace {
/// Seconds of a call.
struct Times {
  double best, median, cpu;
  size_t calls;
};
} // namespace

/// Seconds that calls are queued for.
constexpr double queued = 5e-3;

/// Calls again and again for so many seconds; at least three times, unless a
/// call takes long. Where calls are queued, so many are that a device has work
/// for a while, and the time of one is its share of theirs: by the shortest of
/// a few calls, because the first ones may capture or prepare what later ones
/// use.
static Times measure(Work &work, double atLeast, bool queues) {
  constexpr double longCall = 20e-6; // reading the processor's clock is slow
  constexpr double veryLong = 0.2;
  std::vector<double> times;
  double leastOfProcessor = std::numeric_limits<double>::infinity();
  constexpr int firstCalls = 4;
  size_t together = 1;
  auto call = [&] {
    for (size_t i = 0; i < together; ++i)
      work.run();
    work.wait();
  };
  double begin = now();
  call();
  double before = now();
  if (queues) {
    double shortest = before - begin;
    for (int i = 1; i < firstCalls; ++i) {
      begin = now();
      call();
      shortest = std::min(shortest, now() - begin);
    }
    before = now();
    together = size_t(std::clamp(queued / shortest, 1., 1000.));
    call();
    begin = before;
    before = now();
  }
  const bool isLong = before - begin > longCall;
  const size_t fewest = before - begin > veryLong ? 1 : 3;
  begin = before;
  while (times.size() < fewest || before - begin < atLeast) {
    double started = isLong ? seconds(CLOCK_PROCESS_CPUTIME_ID) : 0;
    before = now();
    call();
    double after = now(), share = double(together);
    times.push_back((after - before) / share);
    if (isLong)
      leastOfProcessor =
          std::min(leastOfProcessor,
                   (seconds(CLOCK_PROCESS_CPUTIME_ID) - started) / share);
    before = after;
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2],
          isLong ? leastOfProcessor : times.front(), times.size()};
}

static std::string toText(const Times &times) {
  std::ostringstream text;
  text << "best=" << times.best << " median=" << times.median
       << " cpu=" << times.cpu << " calls=" << times.calls;
  return text.str();
}

static double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// A line of /proc/self/status, in bytes.
static uint64_t memory(const std::string &name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":"))
      return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) << 10;
  return 0;
}

/// From here on `VmHWM` is what was resident at most.
static void forgetPeak() { std::ofstream("/proc/self/clear_refs") << "5\n"; }

static void callOften(Work &work, int calls) {
  for (int i = 0; i < calls; ++i)
    work.run();
  work.wait();
}

/// Consecutive calls, each waited for. A stall is a call of over twice the
/// median and a millisecond above it.
static std::string stepsOf(Work &work, const Side &side, size_t most,
                           double atMost) {
  constexpr size_t fewest = 3;
  constexpr double queueing = 0.3; // seconds to measure short calls for
  Counters before = side.counters ? side.counters() : Counters();
  std::vector<double> whole, host;
  double begin = now();
  while (whole.size() < most &&
         (whole.size() < fewest || now() - begin < atMost)) {
    double started = now();
    work.run();
    double returned = now();
    work.wait();
    host.push_back(returned - started);
    whole.push_back(now() - started);
  }
  Counters after = side.counters ? side.counters() : Counters();
  size_t steps = whole.size();
  double alone = medianOf(whole);
  size_t stalls = std::count_if(whole.begin(), whole.end(), [&](double time) {
    return time > std::max(2 * alone, alone + 1e-3);
  });
  double median = side.queues && alone < queued
                      ? measure(work, queueing, true).median
                      : alone;
  std::ostringstream text;
  text << "median=" << median << " alone=" << alone
       << " slowest=" << *std::max_element(whole.begin(), whole.end())
       << " stalls=" << stalls << " steps=" << steps
       << " host=" << medianOf(host);
  if (side.counters)
    text << " launches=" << (after.launches - before.launches) / steps
         << " programs=" << after.programs - before.programs;
  return text.str();
}

//===- The loop -----------------------------------------------------------===//

namespace {
class Server {
public:
  explicit Server(const Side &side) : side(side) {}
  std::string answer(const std::string &line);

private:
  std::string prepare(const std::string &words);
  std::string steps(const std::string &words);
  uint64_t peak() const;
  Work &prepared();

  const Side &side;
  std::unique_ptr<Work> work;
  uint64_t memoryBefore = 0;
};
} // namespace

std::string Server::prepare(const std::string &words) {
  work.reset();
  memoryBefore = memory("VmRSS");
  forgetPeak();
  work = side.make(Case(words));
  double compiledBefore = side.compiling ? side.compiling() : 0;
  double begin = now();
  work->run();
  work->wait();
  std::string answer = "ok first=" + std::to_string(now() - begin);
  if (side.compiling)
    answer += " compiling=" + std::to_string(side.compiling() - compiledBefore);
  return answer + " peak=" + std::to_string(peak());
}

/// Bytes that were resident at most, above what `prepare` found.
uint64_t Server::peak() const {
  uint64_t most = memory("VmHWM");
  return most - std::min(most, memoryBefore);
}

std::string Server::steps(const std::string &words) {
  std::istringstream stream(words);
  size_t count = 0;
  double atMost = 0;
  stream >> count >> atMost;
  std::string answer = "ok " + stepsOf(prepared(), side, count, atMost);
  bool onDevice = side.queues && side.counters;
  uint64_t most = onDevice ? side.counters().peak : peak();
  return answer + " peak=" + std::to_string(most);
}

Work &Server::prepared() {
  if (!work)
    throw std::logic_error("nothing is prepared");
  return *work;
}

std::string Server::answer(const std::string &line) {
  std::istringstream words(line);
  std::string command, rest;
  words >> command;
  std::getline(words, rest);
  if (command == "prepare")
    return prepare(rest);
  if (command == "run")
    return "ok " + toText(measure(prepared(), std::stod(rest), side.queues));
  if (command == "steps")
    return steps(rest);
  if (command == "call") {
    callOften(prepared(), std::stoi(rest));
    return "ok";
  }
  if (command == "sample") {
    std::ostringstream text;
    text.precision(9);
    text << "ok";
    for (double value : prepared().sample(std::stoul(rest)))
      text << ' ' << value;
    return text.str();
  }
  if (command == "memory") {
    forgetPeak();
    callOften(prepared(), std::stoi(rest));
    return "ok peak=" + std::to_string(peak());
  }
  if (command == "profile") {
    if (side.profile)
      side.profile();
    return "ok";
  }
  if (command == "facts")
    return "ok " + side.facts();
  return "error unknown command " + command;
}

static std::string oneLine(const char *prefix, std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  return prefix + what;
}

int bench::serve(const Side &side) {
  FILE *answers = fdopen(dup(STDOUT_FILENO), "w");
  if (!answers || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return 1;
  Server server(side);
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    std::string answer;
    try {
      answer = server.answer(line);
    } catch (const Unsupported &error) {
      answer = oneLine("unsupported ", error.what());
    } catch (const std::exception &error) {
      answer = oneLine("error ", error.what());
    }
    std::fprintf(answers, "%s\n", answer.c_str());
    std::fflush(answers);
  }
  return 0;
}
