/// Average: the mean of a model's parameters over the steps of a training.
#include <sinter/train/Average.h>

#include "frontend/Raise.h"
#include "frontend/State.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/ModuleFile.h>
#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sinter::detail {

namespace {

[[noreturn]] void reject(const std::string &what, std::source_location where) {
  raise(makeError(ErrorKind::invalid_argument, "average: " + what, "average"),
        where);
}

DType computeType(DType dtype) {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

void checkSame(const Fields &average, const Fields &model,
               std::source_location where) {
  if (average.params.size() != model.params.size())
    reject(fmt::format("the average has {} parameters, the model {}",
                       average.params.size(), model.params.size()),
           where);
  for (size_t i = 0; i < model.params.size(); ++i) {
    const auto &[path, own] = average.params[i];
    const auto &[other, param] = model.params[i];
    bool isSame = path == other && own->dtype() == param->dtype() &&
                  own->device() == param->device() &&
                  std::ranges::equal(own->shape(), param->shape(), {},
                                     &Dim::value, &Dim::value);
    if (!isSame)
      reject(fmt::format("the average has '{}' {}, the model '{}' {}", path,
                         graph::typeString(*own->cell()->leaf()), other,
                         graph::typeString(*param->cell()->leaf())),
             where);
  }
}

/// One update: how much is taken, by device and dtype.
class Update {
public:
  Update(const Param &count, const AverageRule &rule,
         std::source_location where)
      : rule(rule), count(latestValue(count.cell(), where)) {}

  Tensor next() const { return count + 1; }

  /// average * (1 - taken) + value * taken. The first update takes all.
  Tensor meanOf(const Tensor &average, const Tensor &value) {
    DType dtype = computeType(value.dtype());
    const auto &[taken, kept] = weights(dtype, value.device());
    Tensor mean = axpby(average.to(dtype), kept, value.to(dtype), taken);
    return mean.to(value.dtype());
  }

private:
  using Weights = std::pair<Tensor, Tensor>;

  const Weights &weights(DType dtype, DeviceId device) {
    Weights &found = made[{dtype, toString(device)}];
    if (!found.first.defined()) {
      found.first = takenIn(dtype).to(device);
      found.second = 1.0 - found.first;
    }
    return found;
  }

  Tensor takenIn(DType dtype) const {
    Tensor n = count.to(dtype);
    if (rule.isEqual)
      return 1.0 / (n + 1.0);
    // As a number of the host: of the decay it would have lost bits.
    Tensor fixed = full({}, scalar(1 - rule.decay), {dtype, count.device()});
    if (rule.warmup)
      fixed = maximum(fixed, 9.0 / (n + 10.0)); // 1 - (1 + n) / (10 + n)
    return where(n == 0.0, 1.0, fixed);
  }

  const AverageRule &rule;
  Tensor count;
  std::map<std::pair<DType, std::string>, Weights> made;
};

} // namespace

AverageRule emaRule(double decay, const train::EmaOptions &options,
                    std::source_location where) try {
  Arguments("ema", where).partBelowOne("decay", decay);
  return {.decay = decay,
          .warmup = options.warmup,
          .averageBuffers = options.average_buffers};
} catch (...) {
  raiseExhausted(where);
}

Param averageCount(const Fields &fields, std::source_location where) try {
  if (fields.params.empty())
    reject("the model has no parameter", where);
  return Param("num_updates", {}, init::zeros(),
               {.dtype = DType::i64,
                .device = fields.params[0].value->device(),
                .requires_grad = false},
               where);
} catch (...) {
  raiseExhausted(where);
}

void updateAverage(const Fields &average, const Fields &model,
                   const Param &count, const AverageRule &rule,
                   std::source_location where) try {
  SourceScope scope(where);
  no_grad guard;
  checkSame(average, model, where);
  Update update(count, rule, where);
  for (size_t i = 0; i < model.params.size(); ++i) {
    if (firstWithCell(model.params, i) != i)
      continue;
    const Param &param = *model.params[i].value;
    const runtime::CellRef &own = average.params[i].value->cell();
    Tensor value = latestValue(param.cell(), where);
    bool isTrained = param.requires_grad();
    bool isBuffer = !param.cell()->requiresGrad();
    // What is frozen is the same in every update: its mean is itself.
    if (!isTrained && !(isBuffer && rule.averageBuffers)) {
      updateCell(own, value.detach(where), where);
      continue;
    }
    updateCell(own, update.meanOf(latestValue(own, where), value), where);
  }
  updateCell(count.cell(), update.next(), where);
} catch (...) {
  raiseExhausted(where);
}

void copyValues(const Fields &from, const Fields &to,
                std::source_location where) try {
  SourceScope scope(where);
  no_grad guard;
  checkSame(from, to, where);
  for (size_t i = 0; i < from.params.size(); ++i)
    updateCell(to.params[i].value->cell(),
               latestValue(from.params[i].value->cell(), where).detach(where),
               where);
} catch (...) {
  raiseExhausted(where);
}

bool resetStatistics(const Fields &fields, std::source_location where) try {
  SourceScope scope(where);
  no_grad guard;
  bool found = false;
  for (const auto &[path, param] : fields.params) {
    std::string name = param->name();
    bool isVariance = name == "running_var";
    if (param->cell()->requiresGrad() ||
        (!isVariance && name != "running_mean" &&
         name != "num_batches_tracked"))
      continue;
    found = true;
    Options type{param->dtype(), param->device()};
    param->set(isVariance ? ones(param->shape(), type)
                          : zeros(param->shape(), type),
               where);
  }
  return found;
} catch (...) {
  raiseExhausted(where);
}

} // namespace sinter::detail
