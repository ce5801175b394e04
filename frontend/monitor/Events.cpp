/// Names of what events hold, and several listeners as one.
#include <sinter/train/Events.h>

#include "frontend/Raise.h"
#include "sinter/runtime/Log.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>

namespace sinter::train {

double wall_time() {
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

std::string_view to_string(Split split) {
  return split == Split::train ? "train" : "valid";
}

std::string_view to_string(Role role) {
  switch (role) {
  case Role::metric:
    return "metric";
  case Role::learning_rate:
    return "learning_rate";
  case Role::system:
    break;
  }
  return "system";
}

std::string_view to_string(Better better) {
  switch (better) {
  case Better::neither:
    return "neither";
  case Better::lower:
    return "lower";
  case Better::higher:
    break;
  }
  return "higher";
}

std::string_view to_string(Level level) {
  switch (level) {
  case Level::debug:
    return "debug";
  case Level::info:
    return "info";
  case Level::warning:
    return "warning";
  case Level::error:
    break;
  }
  return "error";
}

std::string_view to_string(Status status) {
  switch (status) {
  case Status::finished:
    return "finished";
  case Status::stopped:
    return "stopped";
  case Status::interrupted:
    return "interrupted";
  case Status::failed:
    break;
  }
  return "failed";
}

Histogram histogram_of(std::string name, int64_t total_step,
                       std::span<const float> numbers, int bins) {
  if (bins < 1)
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  "histogram_of: at least 1 bin, not " + std::to_string(bins),
                  "histogram_of"),
        {});
  Histogram made;
  made.name = std::move(name);
  made.total_step = total_step;
  for (double number : numbers) {
    if (!std::isfinite(number))
      continue;
    made.minimum = made.count ? std::min(made.minimum, number) : number;
    made.maximum = made.count ? std::max(made.maximum, number) : number;
    made.sum += number;
    made.sum_of_squares += number * number;
    ++made.count;
  }
  if (made.count == 0)
    return made;
  double width = (made.maximum - made.minimum) / bins;
  if (width == 0)
    bins = 1;
  for (int bin = 1; bin < bins; ++bin)
    made.limits.push_back(made.minimum + width * bin);
  made.limits.push_back(made.maximum);
  made.counts.resize(made.limits.size());
  for (double number : numbers)
    if (std::isfinite(number))
      ++made.counts[std::ranges::lower_bound(made.limits, number) -
                    made.limits.begin()];
  return made;
}

Listener::~Listener() = default;

void Listeners::add(std::shared_ptr<Listener> listener) {
  if (!listener)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "listeners: a null pointer listens to nothing",
                            "listeners"),
                  {});
  list.push_back(std::move(listener));
}

// A training is worth more than its pictures: what fails here is dropped.
void Listeners::each(void (*call)(Listener &, const Event *),
                     const Event *event) {
  for (size_t index = 0; index < list.size();) {
    std::string why;
    try {
      call(*list[index], event);
      for (std::string &problem : list[index]->take_problems())
        failed.push_back(std::move(problem));
      ++index;
      continue;
    } catch (const std::exception &error) {
      why = error.what();
    } catch (...) {
      why = "an exception of an unknown type";
    }
    list.erase(list.begin() + std::ptrdiff_t(index));
    failed.push_back("this view of the training ended: " + why);
  }
}

static void tellOf(Listener &listener, const Event *event) {
  listener.on(*event);
}

void Listeners::report() {
  // Telling of a failure may be the next one's failure.
  while (reported < failed.size()) {
    Event message =
        Message{.level = Level::warning, .text = failed[reported++]};
    if (list.empty())
      logWarning(std::get<Message>(message).text);
    each(tellOf, &message);
  }
}

void Listeners::on(const Event &event) {
  // What went wrong is told before the end.
  if (std::holds_alternative<RunEnd>(event))
    flush();
  each(tellOf, &event);
  if (reported < failed.size()) [[unlikely]]
    report();
}

void Listeners::flush() {
  each([](Listener &listener, const Event *) { listener.flush(); }, nullptr);
  if (reported < failed.size()) [[unlikely]]
    report();
}

void Listeners::tick() {
  each([](Listener &listener, const Event *) { listener.tick(); }, nullptr);
  if (reported < failed.size()) [[unlikely]]
    report();
}

} // namespace sinter::train
