// A training that never was: the events of one, with all that listens to them.
//
// usage: monitor-demo FOLDER [KEY=VALUE]...
#include <sinter/train/Monitors.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

using namespace sinter::train;

namespace {

volatile std::sig_atomic_t interrupted = 0;

/// What the command line asks for; every word has a default.
struct Wish {
  std::string folder;
  std::map<std::string, std::string> words = {
      {"epochs", "3"},      {"steps", "200"},    {"valid", "40"},
      {"every", "1"},       {"pace", "0"},       {"dashboard", "1"},
      {"files", "1"},       {"lines", "10"},     {"resume", "0"},
      {"resume-step", "0"}, {"stop-step", "0"},  {"throw-step", "0"},
      {"handle", "0"},      {"hostile", "0"},    {"strange", "0"},
      {"measure", "0"},     {"histograms", "0"}, {"name", "digits"},
      {"system", "1"},      {"hold", "0"}};

  int64_t number(const std::string &word) const {
    return std::strtoll(words.at(word).c_str(), nullptr, 10);
  }
};

constexpr const char *hostile =
    "</script><script>document.title='owned'</script><img src=x onerror="
    "\"document.title='owned'\">'&amp;<!--\033[2J\n\xFF\xE2\x80\xAE,\"";

/// The same for the same step, so that tests know it without a record.
double noise(int64_t seed) {
  auto bits = uint64_t(seed) * 0x9E3779B97F4A7C15;
  bits ^= bits >> 29;
  bits *= 0xBF58476D1CE4E5B9;
  return double(bits >> 40) / double(uint64_t{1} << 24) - 0.5;
}

class Training {
public:
  Training(const Wish &wish, Listeners &listeners);

  void run();

private:
  void begin();
  void epoch();
  void steps(Split split, int64_t count);
  void compute(Split split, int64_t total);
  void report(Split split, int64_t count);
  void end(Status status, const std::string &why);
  void wait() const;

  const Wish &wish;
  Listeners &listeners;
  std::vector<Value> values;
  int64_t number = 1;
  int64_t totals[2] = {0, 0};
  double time = 1767225600; // 2026-01-01
  bool isStopped = false;
};

Training::Training(const Wish &wish, Listeners &listeners)
    : wish(wish), listeners(listeners) {
  values.resize(4);
  values[0] = {.name = "Loss", .better = Better::lower, .items = 64};
  values[1] = {
      .name = "Accuracy", .unit = "%", .better = Better::higher, .items = 64};
  values[2] = {.name = "Learning rate", .role = Role::learning_rate};
  values[3] = {.name = "Speed", .unit = "items/s", .role = Role::system};
  if (!wish.number("system"))
    values.resize(2);
  if (wish.number("hostile"))
    values[0].name = hostile;
}

void Training::begin() {
  RunBegin run;
  bool isHostile = wish.number("hostile");
  run.name = isHostile ? hostile : wish.words.at("name");
  run.folder = wish.folder;
  run.config =
      isHostile ? R"({"</script><b>": "<img src=x>", "a": [], "b": 1, "c": 2,)"
                  R"( "d": {"<i>": null, "'&\"": true}})"
                : R"({"epochs": 3, "batch_size": 64, "seed": 42,)"
                  R"( "optimizer": {"name": "Adam", "rate": 0.001,)"
                  R"( "nesterov": false}})";
  run.model =
      "Net\n  conv1  Conv2d(1, 8, 3)      80\n  fc     Linear(512, 10)  "
      "5,130";
  run.devices = isHostile ? hostile : "cpu (16 cores)";
  run.hardware = "16 cores, 64 GB of memory, Linux";
  run.epochs = wish.number("epochs");
  run.train_steps = wish.number("steps");
  run.valid_steps = wish.number("valid");
  run.parameters = 5210;
  int64_t resume = wish.number("resume");
  if (resume > 0) {
    totals[0] = resume * run.train_steps + wish.number("resume-step");
    totals[1] = resume * run.valid_steps;
    number = resume + 1;
    run.resume = Resume{resume, totals[0], totals[1]};
    time += double(totals[0]) * 0.01;
  }
  run.time = time;
  listeners.on(run);
  listeners.on(Message{.text = isHostile ? hostile : "seed 42", .time = time});
}

void Training::compute(Split split, int64_t total) {
  double way = double(totals[0]) / double(wish.number("steps"));
  double gap = split == Split::valid ? 0.06 : 0;
  values[0].value =
      2.3 * std::exp(-way) + 0.08 + gap + 0.1 * noise(total * 2 + (gap > 0));
  values[1].value =
      98 - 60 * std::exp(-1.3 * way) - 30 * gap + 3 * noise(total * 3 + 1);
  if (values.size() > 2) {
    values[2].value = 0.001 * std::exp(-0.3 * way);
    values[3].value = 6400 + 300 * noise(total);
  }
  if (wish.number("strange")) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (total % 5 == 0)
      values[0].value = std::nan("");
    if (total % 7 == 0)
      values[0].value = infinity;
    if (total % 11 == 0)
      values[0].value = -infinity;
  }
}

void Training::wait() const {
  if (int64_t pace = wish.number("pace"))
    std::this_thread::sleep_for(std::chrono::microseconds(pace));
}

void Training::report(Split split, int64_t count) {
  compute(split, totals[size_t(split)]);
  listeners.on(EpochEnd{.split = split,
                        .epoch = number,
                        .steps = count,
                        .total_step = totals[size_t(split)],
                        .items = uint64_t(count) * 64,
                        .seconds = double(count) * 0.01,
                        .values = std::span(values).first(2),
                        .time = time});
}

void Training::steps(Split split, int64_t count) {
  int64_t every = wish.number("every");
  int64_t stop = wish.number("stop-step"), fault = wish.number("throw-step");
  int64_t &total = totals[size_t(split)];
  int64_t first = 1;
  if (split == Split::train && number == wish.number("resume") + 1)
    first += wish.number("resume-step");
  for (int64_t step = first; step <= count && !isStopped; ++step) {
    ++total;
    time += 0.01;
    bool isRead = step % every == 0 || step == count;
    if (isRead)
      compute(split, total);
    listeners.on(StepEnd{.split = split,
                         .epoch = number,
                         .step = step,
                         .steps = count,
                         .total_step = total,
                         .items = 64,
                         .values = isRead ? std::span<const Value>(values)
                                          : std::span<const Value>(),
                         .time = time});
    if (split == Split::train && total == fault)
      throw std::runtime_error("the disk of the data is gone");
    if (interrupted) {
      listeners.on(Interrupted{.why = "SIGINT", .time = time});
      isStopped = true;
    }
    if (split == Split::train && total == stop)
      isStopped = true;
    wait();
  }
  if (!isStopped)
    report(split, count);
}

void Training::epoch() {
  int64_t count = wish.number("steps"), valid = wish.number("valid");
  listeners.on(EpochBegin{.epoch = number,
                          .train_steps = count,
                          .valid_steps = valid,
                          .time = time});
  DeviceReport devices;
  devices.devices.push_back({.device = "cpu",
                             .in_use = uint64_t(number) * 1'200'000'000,
                             .peak = 5'000'000'000,
                             .total = 64'000'000'000,
                             .load = 0.87,
                             .temperature = 61});
  devices.time = time;
  listeners.on(devices);
  steps(Split::train, count);
  if (valid > 0 && !isStopped)
    steps(Split::valid, valid);
  if (isStopped)
    return;
  if (wish.number("histograms")) {
    std::vector<float> numbers;
    for (int64_t at = 0; at < 1000; ++at)
      numbers.push_back(float(noise(at) + noise(at * 7 + number)));
    Histogram made = histogram_of("fc.weight", totals[0], numbers);
    made.time = time;
    listeners.on(made);
  }
  listeners.flush();
  listeners.on(
      CheckpointWritten{.path = "checkpoint/model-" + std::to_string(number),
                        .epoch = number,
                        .train_steps = totals[0],
                        .bytes = 41'680,
                        .why = "last",
                        .time = time});
  if (number > 2)
    listeners.on(CheckpointRemoved{.path = "checkpoint/model-" +
                                           std::to_string(number - 2),
                                   .time = time});
}

void Training::end(Status status, const std::string &why) {
  RunEnd end;
  end.status = status;
  end.why = why;
  end.seconds = time - 1767225600;
  end.fusion = "3 programs, 14 kernels\nmatmul+add+relu  2 launches";
  end.programs = 3;
  end.cached = 1;
  end.compile_seconds = 2.5;
  end.time = time;
  listeners.on(end);
}

void Training::run() {
  begin();
  for (; number <= wish.number("epochs") && !isStopped; ++number)
    epoch();
  if (interrupted)
    end(Status::interrupted, "SIGINT");
  else if (!isStopped)
    end(Status::finished, "");
  else if (wish.number("stop-step"))
    std::_Exit(3); // as a process that is killed
}

double seconds(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

} // namespace

int main(int count, char **words) {
  Wish wish;
  for (int at = 2; at < count; ++at) {
    const char *equals = std::strchr(words[at], '=');
    std::string key(words[at], equals ? size_t(equals - words[at]) : 0);
    if (!wish.words.count(key)) {
      std::fprintf(stderr, "unknown: %s\n", words[at]);
      return 2;
    }
    wish.words[key] = equals + 1;
  }
  wish.folder = count > 1 ? words[1] : "";
  if (wish.number("handle"))
    std::signal(SIGINT, [](int) { interrupted = 1; });
  MonitorOptions options;
  if (!wish.number("files"))
    options.csv = options.experiment_log = options.json_lines =
        options.metric_logs = options.tensorboard = options.html_report = false;
  options.dashboard = wish.number("dashboard");
  options.terminal.line_seconds = double(wish.number("lines"));
  try {
    Listeners listeners;
    add_monitors(listeners, options);
    Training training(wish, listeners);
    double wall = seconds(CLOCK_MONOTONIC);
    double own = seconds(CLOCK_THREAD_CPUTIME_ID);
    training.run();
    own = seconds(CLOCK_THREAD_CPUTIME_ID) - own;
    wall = seconds(CLOCK_MONOTONIC) - wall;
    if (wish.number("measure"))
      std::fprintf(stderr, "own %.3f s, with the end %.3f s\n", own, wall);
    for (const std::string &failure : listeners.failures())
      std::fprintf(stderr, "failure: %s\n", failure.c_str());
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
