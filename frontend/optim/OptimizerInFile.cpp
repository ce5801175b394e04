/// What an optimizer's step is in a file: its counts are state of the file.
#include <sinter/optim/Optimizer.h>

#include "frontend/Capture.h"
#include "frontend/Raise.h"
#include "frontend/State.h"
#include "runtime/graph/Builders.h"

#include <sinter/Creation.h>

#include <fmt/format.h>

#include <cmath>

namespace sinter::optim {

static bool isForFile() {
  detail::Capture *capture = detail::Capture::current();
  return capture && capture->use() == detail::CaptureUse::file;
}

/// One for all parameters that counted as many steps. `next` makes of the value
/// before this step the one in it.
StepNumber
Optimizer::countedInFile(const Update &update, const std::string &name,
                         double before, double now,
                         const std::function<Tensor(Tensor)> &next) try {
  detail::Capture::current()->stepped().push_back({stepping, stepped});
  std::string key = fmt::format("{} {} {} of {}", name, update.step,
                                toString(update.value.device()), stepped);
  Tensor &value = counted[key];
  if (value.defined())
    return {now, value};
  runtime::CellRef &cell = fileCounts[key];
  if (!cell) {
    runtime::CellSpec spec{.dtype = DType::f64,
                           .dims = {},
                           .device = update.value.device(),
                           .requiresGrad = false,
                           .name = kind + "." + name};
    auto first = [before, device = spec.device] {
      return graph::full(Dims(), Number(before), DType::f64, device);
    };
    cell = runtime::Cell::lazy(std::move(spec), first);
  }
  detail::Capture::current()->nameState(cell, nullptr, kind + "." + name);
  SourceLine where = SourceLine::current();
  value = next(detail::readCell(cell, where));
  detail::updateCell(cell, value, where);
  return {now, value};
} catch (...) {
  detail::raiseExhausted({});
}

StepNumber Optimizer::countOf(const Update &update) try {
  auto count = static_cast<double>(update.step);
  if (!taken && !isForFile())
    return count;
  auto next = [](const Tensor &before) { return before + 1.0; };
  if (taken)
    return countedOnDevice(update, "count", count - 1, count, next);
  return countedInFile(update, "count", count - 1, count, next);
} catch (...) {
  detail::raiseExhausted({});
}

StepNumber Optimizer::powerOf(const Update &update, double base) try {
  auto count = static_cast<double>(update.step);
  double now = std::pow(base, count);
  if (!taken && !isForFile())
    return now;
  std::string name = fmt::format("power_{}", base);
  double before = std::pow(base, count - 1);
  auto next = [base](const Tensor &last) { return last * base; };
  if (taken)
    return countedOnDevice(update, name, before, now, next);
  return countedInFile(update, name, before, now, next);
} catch (...) {
  detail::raiseExhausted({});
}

void Optimizer::refuseFile() const try {
  if (isForFile())
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  "export: a step of " + kind +
                      " cannot be in a file: it computes numbers of its count "
                      "of steps that files do not; sgd, adam, adamw, adamax, "
                      "rmsprop, adagrad, adadelta and rprop can",
                  "export"),
        SourceLine::current());
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::optim
