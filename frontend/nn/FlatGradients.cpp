/// Gradients as one vector, and changes of a module's parameters.
#include <sinter/FlatGradients.h>

#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/ModuleFile.h>
#include <sinter/Shaping.h>
#include <sinter/SourceScope.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter::detail {

namespace {

/// The Params that want a gradient, tied ones once.
std::vector<const Param *> trainedOf(const Fields &fields) {
  std::vector<const Param *> params;
  for (size_t i = 0; i < fields.params.size(); ++i)
    if (fields.params[i].value->requires_grad() &&
        firstWithCell(fields.params, i) == i)
      params.push_back(fields.params[i].value);
  return params;
}

[[noreturn]] void reject(std::string_view op, const std::string &what,
                         std::source_location where) {
  raise(makeError(ErrorKind::invalid_argument, fmt::format("{}: {}", op, what),
                  std::string(op)),
        where);
}

/// One piece of a flat vector for each Param, in its shape.
std::vector<Tensor> piecesOf(const std::vector<const Param *> &params,
                             const Tensor &flat, std::string_view op,
                             std::source_location where) {
  int64_t total = 0;
  for (const Param *param : params)
    total += param->numel();
  if (!flat.defined() || flat.rank() != 1 || flat.numel() != total)
    reject(
        op,
        fmt::format("the parameters have {} elements, the vector is {}", total,
                    flat.defined() ? graph::typeString(*flat.node()) : "empty"),
        where);
  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (const Param *param : params) {
    Tensor piece = narrow(Arg(flat, where), 0, start, param->numel());
    pieces.push_back(piece.reshape(param->shape(), where));
    start += param->numel();
  }
  return pieces;
}

/// A Param and what is added to it.
struct Change {
  const Param *param;
  Tensor delta;
};

std::vector<Change> changesByPath(const Fields &fields,
                                  const WeightDelta &delta,
                                  std::source_location where) {
  std::vector<Change> changes;
  for (const auto &[path, tensor] : delta.paths()) {
    size_t index = 0;
    while (index < fields.params.size() && fields.params[index].path != path)
      ++index;
    if (index == fields.params.size())
      reject("apply_weight_delta",
             fmt::format("the module has no parameter '{}'", path), where);
    const Param *param =
        fields.params[firstWithCell(fields.params, index)].value;
    std::string wanted = graph::typeString(*param->cell()->leaf());
    std::string given = tensor.defined() ? graph::typeString(*tensor.node())
                                         : "an empty tensor";
    if (given.substr(given.find('[')) != wanted.substr(wanted.find('[')))
      reject("apply_weight_delta",
             fmt::format("'{}' is {}, its delta {}", path, wanted, given),
             where);
    auto same = std::ranges::find(changes, param, &Change::param);
    if (same == changes.end())
      changes.push_back({param, tensor});
    else
      same->delta = same->delta + tensor;
  }
  return changes;
}

} // namespace

Tensor flattenGradients(const Fields &fields, const Gradients &gradients,
                        std::source_location where) try {
  SourceScope scope(where);
  std::vector<const Param *> params = trainedOf(fields);
  if (params.empty())
    reject("flat_gradients", "no parameter of the module wants a gradient",
           where);
  DType dtype = params[0]->dtype();
  for (const Param *param : params)
    dtype = promote(dtype, param->dtype());
  std::vector<Tensor> pieces;
  for (const Param *param : params) {
    const Tensor *found = gradients.find(*param);
    Tensor gradient =
        found ? *found
              : zeros(param->shape(),
                      {.dtype = param->dtype(), .device = param->device()});
    pieces.push_back(gradient.to(dtype, where).reshape({-1}, where));
  }
  return concat(pieces, 0);
} catch (...) {
  detail::raiseExhausted(where);
}

Gradients unflattenGradients(const Fields &fields, const Tensor &flat,
                             std::source_location where) try {
  SourceScope scope(where);
  std::vector<const Param *> params = trainedOf(fields);
  std::vector<Tensor> pieces = piecesOf(params, flat, "gradients_of", where);
  Gradients gradients;
  for (size_t i = 0; i < params.size(); ++i)
    gradients.set(params[i]->cell()->id(),
                  pieces[i].to(params[i]->dtype(), where));
  return gradients;
} catch (...) {
  detail::raiseExhausted(where);
}

void addDelta(const Fields &fields, const WeightDelta &delta, double scale,
              std::source_location where) try {
  SourceScope scope(where);
  no_grad guard;
  std::vector<Change> changes;
  if (delta.vector().defined()) {
    std::vector<const Param *> params = trainedOf(fields);
    std::vector<Tensor> pieces =
        piecesOf(params, delta.vector(), "apply_weight_delta", where);
    for (size_t i = 0; i < params.size(); ++i)
      changes.push_back({params[i], pieces[i]});
  } else {
    changes = changesByPath(fields, delta, where);
  }
  for (Change &change : changes) {
    const Param &param = *change.param;
    Tensor added = change.delta * scalar(scale);
    const_cast<Param &>(param).set(
        param.own_value(where) + added.to(param.dtype(), where), where);
  }
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::detail
