/// Lora: adapters of low rank beside the weights of a model that stays as it
/// is.
#include <sinter/train/Lora.h>

#include "frontend/Raise.h"
#include "frontend/adapt/LowRank.h"

#include <sinter/Arguments.h>
#include <sinter/Creation.h>
#include <sinter/ModuleFile.h>
#include <sinter/SourceScope.h>
#include <sinter/train/Freeze.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <ostream>

namespace sinter {

namespace {

/// W + scale * B A.
class Lora : public Parametrization {
public:
  Lora(const Param &weight, const train::LoraOptions &options, Where where)
      : options(options) {
    int64_t rows = weight.shape()[0].value, columns = weight.shape()[1].value;
    int64_t in = options.fan_in_fan_out ? rows : columns;
    int64_t out = options.fan_in_fan_out ? columns : rows;
    ParamOptions param{.dtype = options.dtype.value_or(weight.dtype()),
                       .device = weight.device()};
    // PEFT's first values, which are those of a linear layer.
    double bound = 1 / std::sqrt(static_cast<double>(in));
    parts.emplace_back("lora_A",
                       Param("lora_A", {options.rank, in},
                             init::uniform(-bound, bound), param, where));
    parts.emplace_back("lora_B", Param("lora_B", {out, options.rank},
                                       init::zeros(), param, where));
  }

  std::string kind() const override { return "lora"; }
  std::shared_ptr<Parametrization> copy() const override {
    return std::make_shared<Lora>(*this);
  }
  Tensor value(const Tensor &own, Where where) const override {
    return detail::lowRankSum({.own = own.node(),
                               .down = parts[0].second.tensor(where).node(),
                               .up = parts[1].second.tensor(where).node(),
                               .isTransposed = options.fan_in_fan_out,
                               .scale = scale(),
                               .dropout = mode.training ? options.dropout : 0},
                              where);
  }
  std::string constants() const override {
    return fmt::format("lora {} {} {}", scale(), options.dropout,
                       options.fan_in_fan_out);
  }

private:
  double scale() const {
    auto rank = static_cast<double>(options.rank);
    return options.alpha / (options.rank_stabilized ? std::sqrt(rank) : rank);
  }

  train::LoraOptions options;
};

[[noreturn]] void reject(const char *call, const std::string &what,
                         std::source_location where) {
  detail::raise(makeError(ErrorKind::invalid_argument,
                          fmt::format("{}: {}", call, what), call),
                where);
}

bool hasLora(const Param &param) {
  return dynamic_cast<const Lora *>(param.parametrization()) != nullptr;
}

/// The weights with an adapter; none is an error.
std::vector<Param *> adaptedOf(const detail::Fields &fields, const char *call,
                               std::source_location where) {
  std::vector<Param *> adapted;
  for (const auto &[path, param] : fields.params)
    if (hasLora(*param))
      adapted.push_back(param);
  if (adapted.empty())
    reject(call, "the model has no adapter", where);
  return adapted;
}

/// The adapters' Params under PEFT's names.
detail::Fields partsOf(const detail::Fields &fields, const char *call,
                       std::source_location where) {
  adaptedOf(fields, call, where);
  constexpr std::string_view weight = ".weight";
  detail::Fields parts;
  for (const auto &[path, param] : fields.params) {
    if (!hasLora(*param))
      continue;
    std::string_view module = path;
    if (module.ends_with(weight))
      module.remove_suffix(weight.size());
    for (auto &[name, part] : param->parametrization()->parts)
      parts.params.push_back(
          {fmt::format("base_model.model.{}.{}.weight", module, name), &part});
  }
  return parts;
}

} // namespace

train::LoraReport detail::addLora(const Fields &fields,
                                  const Patterns &patterns,
                                  const train::LoraOptions &options,
                                  std::source_location where) try {
  constexpr const char *call = "add_lora";
  Arguments(call, where)
      .positive("rank", options.rank)
      .aboveZero("alpha", options.alpha)
      .partBelowOne("dropout", options.dropout);
  if (options.dtype &&
      !(isFloat(*options.dtype) && isComputable(*options.dtype)))
    reject(call,
           fmt::format("adapters are floats, not {}", name(*options.dtype)),
           where);
  std::vector<bool> chosen =
      selectParams(fields, patterns, Selectable::matrices, call, where);
  std::vector<std::shared_ptr<Parametrization>> made(chosen.size());
  for (size_t i = 0; i < chosen.size(); ++i) {
    const auto &[path, param] = fields.params[i];
    if (chosen[i] && param->parametrization())
      reject(call,
             fmt::format("'{}' has a parametrization already: {}", path,
                         param->parametrization()->kind()),
             where);
    if (chosen[i])
      made[i] = std::make_shared<Lora>(*param, options, where);
  }
  train::LoraReport report{.adapted = reportOf(fields, chosen)};
  for (size_t i = 0; i < chosen.size(); ++i)
    if (Param &param = *fields.params[i].value; chosen[i]) {
      param.require_grad(false);
      param.parametrize(made[i], where);
    } else if (options.freeze_rest && !isPart(fields, param)) {
      param.require_grad(false);
    }
  report.total = countElements(fields);
  report.trainable = countTrained(fields);
  for (const auto &form : made)
    if (form)
      for (const auto &[name, part] : form->parts) {
        report.total += part.numel();
        report.trainable += part.numel();
      }
  return report;
} catch (...) {
  raiseExhausted(where);
}

void detail::mergeLora(const Fields &fields, std::source_location where) try {
  SourceScope scope(where);
  no_grad guard;
  for (Param *param : adaptedOf(fields, "merge_lora", where)) {
    Tensor merged = param->tensor(where).detach(where);
    param->parametrize({}, where);
    param->set(merged, where);
  }
} catch (...) {
  raiseExhausted(where);
}

void detail::removeLora(const Fields &fields, std::source_location where) try {
  for (Param *param : adaptedOf(fields, "remove_lora", where))
    param->parametrize({}, where);
} catch (...) {
  raiseExhausted(where);
}

void detail::saveLora(const Fields &fields, const std::string &file,
                      std::source_location where) try {
  saveFields(partsOf(fields, "save_lora", where), file, where);
} catch (...) {
  raiseExhausted(where);
}

void detail::loadLora(const Fields &fields, const std::string &file,
                      std::source_location where) try {
  loadFields(partsOf(fields, "load_lora", where), file, where);
} catch (...) {
  raiseExhausted(where);
}

std::ostream &train::operator<<(std::ostream &stream,
                                const LoraReport &report) {
  double part = report.total == 0
                    ? 0
                    : 100 * static_cast<double>(report.trainable) /
                          static_cast<double>(report.total);
  return stream << fmt::format(
             "{} weight{} adapted, {} of {} elements are trained ({:.2f} %): "
             "{}",
             report.adapted.paths.size(),
             report.adapted.paths.size() == 1 ? "" : "s", report.trainable,
             report.total, part, fmt::join(report.adapted.paths, ", "));
}

} // namespace sinter
