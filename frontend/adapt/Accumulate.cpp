/// Accumulate: gradients of several small batches as those of a big one.
#include <sinter/train/Accumulate.h>

#include "frontend/GeneratorHold.h"
#include "frontend/Raise.h"
#include "frontend/State.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/ModuleFile.h>
#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace sinter::train {

using detail::Fields;

static constexpr const char *call = "accumulate";

[[noreturn]] static void reject(const std::string &what,
                                std::source_location where) {
  detail::raise(makeError(ErrorKind::invalid_argument,
                          fmt::format("{}: {}", call, what), call),
                where);
}

/// A parameter's sum, 0 at first.
Param &GradientsAccumulator::sumOf(const std::string &path, const Param &param,
                                   Where where) try {
  detail::GeneratorHold hold;
  if (!total_weight.defined())
    total_weight =
        Param("total_weight", {}, init::zeros(),
              {.device = param.device(), .requires_grad = false}, where);
  Param &sum = sums[path];
  DType dtype = param.dtype() == DType::f64 ? DType::f64 : DType::f32;
  if (!sum.defined())
    sum = Param(
        param.name() + ".sum", param.shape(), init::zeros(),
        {.dtype = dtype, .device = param.device(), .requires_grad = false},
        where);
  return sum;
} catch (...) {
  detail::raiseExhausted(where);
}

void GradientsAccumulator::prepare(const Fields &fields, Where where) try {
  for (size_t i = 0; i < fields.params.size(); ++i) {
    const auto &[path, param] = fields.params[i];
    if (param->requires_grad() && detail::firstWithCell(fields.params, i) == i)
      sumOf(path, *param, where);
  }
  if (sums.empty())
    reject("no parameter of the model wants a gradient", where);
} catch (...) {
  detail::raiseExhausted(where);
}

/// The weight, which reads the total: what evaluates a sum evaluates the total,
/// too, and no program is left over for that.
static Tensor weightBeside(const Tensor &total, double weight) {
  Tensor amount = full({}, scalar(weight), {DType::f32, total.device()});
  return where(total >= 0.0, amount, 0.0);
}

void GradientsAccumulator::add(const Fields &fields, const Gradients &gradients,
                               double weight, Where where) try {
  detail::SourceScope scope(where);
  no_grad guard;
  if (!(weight > 0) || !std::isfinite(weight))
    reject(fmt::format("the weight is {}, not a positive number", weight),
           where);
  Tensor total, amount;
  for (size_t i = 0; i < fields.params.size(); ++i) {
    const auto &[path, param] = fields.params[i];
    if (!param->requires_grad() || detail::firstWithCell(fields.params, i) != i)
      continue;
    const Tensor *gradient = gradients.find(*param);
    if (!gradient)
      continue;
    Param &sum = sumOf(path, *param, where);
    // What the small batch before this one left is evaluated here, so that each
    // is a program, the same one, and not a part of a longer one.
    Tensor before = detail::readCell(sum.cell(), where);
    if (!total.defined()) {
      total = detail::readCell(total_weight.cell(), where);
      amount = weightBeside(total, weight);
    }
    Tensor own = amount.to(sum.device()).to(sum.dtype());
    Tensor here = gradient->to(sum.device(), where).to(sum.dtype());
    sum.set(before + here * own, where);
    added[path] = param->cell()->id();
  }
  if (!total.defined())
    reject("the gradients hold none of the model's parameters", where);
  total_weight.set(total + amount, where);
  ++numAdded;
} catch (...) {
  detail::raiseExhausted(where);
}

std::vector<std::string> GradientsAccumulator::paths() const {
  std::vector<std::string> all;
  for (const auto &[path, cell] : added)
    all.push_back(path);
  return all;
}

void GradientsAccumulator::goOn(const Fields &fields, int64_t count,
                                const std::vector<std::string> &paths,
                                Where where) try {
  if (count < 0 || (count > 0) == paths.empty())
    reject(fmt::format("{} small batches gave gradients to {} parameters",
                       count, paths.size()),
           where);
  std::map<std::string, uint64_t> found;
  for (const std::string &path : paths) {
    for (const auto &[name, param] : fields.params)
      if (name == path && sums.contains(path))
        found[path] = param->cell()->id();
    if (!found.contains(path))
      reject(fmt::format("there is no parameter '{}' with a sum", path), where);
  }
  added = std::move(found);
  numAdded = count;
} catch (...) {
  detail::raiseExhausted(where);
}

/// The model's, by path.
static std::map<std::string_view, const Param *> paramsOf(const Fields &model) {
  std::map<std::string_view, const Param *> all;
  for (const auto &[path, param] : model.params)
    all.emplace(path, param);
  return all;
}

/// Whether gradients of the one fit the other.
static bool isAlike(const Param &one, const Param &other) {
  return std::ranges::equal(one.shape(), other.shape(), {}, &Dim::value,
                            &Dim::value);
}

Gradients GradientsAccumulator::taken(const Fields *model, bool isMean,
                                      Where where) try {
  detail::SourceScope scope(where);
  no_grad guard;
  if (added.empty())
    reject("nothing was accumulated since the last take", where);
  std::map<std::string_view, const Param *> params;
  if (model)
    params = paramsOf(*model);
  for (const auto &[path, cell] : added) {
    if (!model)
      break;
    auto found = params.find(path);
    if (found == params.end())
      reject(fmt::format("gradients were given for '{}', which this model does "
                         "not have",
                         path),
             where);
    if (!isAlike(*found->second, sums.at(path)))
      reject(fmt::format("the parameter '{}' of this model has another shape "
                         "than what was accumulated for it",
                         path),
             where);
  }
  Gradients gradients;
  Tensor total = detail::latestValue(total_weight.cell(), where);
  for (const auto &[path, cell] : added) {
    Param &sum = sums.at(path);
    Tensor value = detail::latestValue(sum.cell(), where);
    if (isMean)
      value = value / total.to(sum.device()).to(sum.dtype());
    if (const Param *param = model ? params.at(path) : nullptr)
      gradients.set(param->cell()->id(), value.to(param->device(), where));
    else
      gradients.set(cell, value);
    sum.set(zeros(sum.shape(), {sum.dtype(), sum.device()}), where);
  }
  total_weight.set(zeros({}, {DType::f32, total_weight.device()}), where);
  added.clear();
  numAdded = 0;
  return gradients;
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::train
