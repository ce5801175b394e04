/// Param: a named value of a module that training changes.
#include <sinter/Param.h>

#include "frontend/Capture.h"
#include "frontend/DeviceScope.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/State.h"

#include <sinter/Creation.h>
#include <sinter/Parametrization.h>
#include <sinter/SourceScope.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ostream>

namespace sinter {

namespace {

/// Ids follow from the order in which parameters are made, so the same program
/// writes the same files; mixing the bits keeps ids of different programs
/// that meet in one file from looking alike.
uint64_t nextRecordId() {
  static std::atomic<uint64_t> counter{0};
  uint64_t z = (counter.fetch_add(1) + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

bool sameExtents(const Dims &a, const Dims &b) {
  return std::ranges::equal(a, b, {}, &Dim::value, &Dim::value);
}

/// Records a first value of this type; user code may throw, the runtime may
/// not see it.
Result<graph::NodeRef> recordFirst(const std::function<Tensor()> &make,
                                   const Dims &shape, DType dtype,
                                   DeviceId device, SiteId site) {
  try {
    no_grad guard;
    detail::DeviceScope deviceScope(device);
    detail::SourceScope scope(site);
    Tensor value = make();
    if (!value.defined())
      return makeError(ErrorKind::invalid_argument,
                       "parameter: the initial value is an empty tensor");
    if (value.dtype() != dtype || !sameExtents(value.shape(), shape))
      return makeError(ErrorKind::invalid_argument,
                       "parameter: the initial value has another type: " +
                           graph::typeString(*value.node()));
    return value.node();
  } catch (const Error &error) {
    return makeError(error.kind(), error.message(), error.op());
  } catch (const std::exception &error) {
    return makeError(ErrorKind::invalid_argument,
                     std::string("parameter: ") + error.what());
  }
}

Dims constantDims(const Dims &dims) {
  Dims constants;
  for (Dim dim : dims)
    constants.emplace_back(dim.value);
  return constants;
}

std::string typeOf(const runtime::Cell &cell) {
  return graph::typeString(*cell.leaf());
}

/// In place of an initializer: the function that is captured gives the value.
Result<graph::NodeRef> valueOfCapture() {
  return makeError(ErrorKind::invalid_argument,
                   "jit: a parameter that a jitted function makes has a value "
                   "in its results only",
                   "jit");
}

} // namespace

Param::Param(std::string name, const Dims &shape, Init init,
             const ParamOptions &options, Where where) try
    : recordId(nextRecordId()) {
  runtime::CellSpec spec{.dtype = options.dtype,
                         .dims = constantDims(shape),
                         .device = options.device.value_or(default_device()),
                         .requiresGrad = options.requires_grad,
                         .name = std::move(name)};
  auto record = [init = std::move(init), dims = spec.dims, dtype = spec.dtype,
                 device = spec.device, generator = default_generator().split(),
                 site = detail::userSite(where)] {
    Generator start = generator; // the same numbers each time
    return recordFirst([&] { return init(dims, dtype, start); }, dims, dtype,
                       device, site);
  };
  state = runtime::Cell::lazy(std::move(spec), std::move(record));
} catch (...) {
  detail::raiseExhausted(where);
}

Param::Param(const Tensor &value, std::string name, bool requires_grad,
             Where where) try
    : recordId(nextRecordId()) {
  if (!value.defined())
    detail::throwEmpty("parameter", where);
  detail::Capture *capture = detail::Capture::current();
  if (!capture)
    value.eval(where);
  runtime::CellSpec spec{.dtype = value.dtype(),
                         .dims = constantDims(value.shape()),
                         .device = value.device(),
                         .requiresGrad = requires_grad,
                         .name = std::move(name)};
  if (!capture) {
    state = runtime::Cell::ready(std::move(spec), value.node()->value());
    return;
  }
  state = runtime::Cell::lazy(std::move(spec), valueOfCapture);
  capture->addLocal(state, value);
} catch (...) {
  detail::raiseExhausted(where);
}

Param::Param(const Param &other) try
    : LiveParam(other), state(other.state ? other.state->copy() : nullptr),
      recordId(other.recordId), fileMapper(other.fileMapper),
      form(other.form ? other.form->copy() : nullptr), frozen(other.frozen),
      predicting(other.predicting) {
  if (detail::Capture *capture = detail::Capture::current(); capture && state)
    capture->addLocal(state, capture->read(other.state));
} catch (...) {
  detail::raiseExhausted({});
}

Param Param::of_cell(runtime::CellRef cell, uint64_t record_id) try {
  Param param;
  param.state = std::move(cell);
  param.recordId = record_id;
  return param;
} catch (...) {
  detail::raiseExhausted({});
}

Param Param::pending(const Param &like, const Tensor &value) try {
  like.held("pending");
  runtime::CellSpec spec{.dtype = value.dtype(),
                         .dims = constantDims(value.shape()),
                         .device = value.device(),
                         .requiresGrad = like.state->requiresGrad(),
                         .name = like.name()};
  // A Tensor: what it is computed from is not given away before.
  auto record = [held = value.detach()]() -> Result<graph::NodeRef> {
    return held.node();
  };
  Param param;
  param.state = runtime::Cell::lazy(std::move(spec), std::move(record));
  if (detail::Capture *capture = detail::Capture::current())
    capture->addLocal(param.state, value);
  param.recordId = like.recordId;
  param.fileMapper = like.fileMapper;
  param.frozen = like.frozen;
  param.predicting = like.predicting;
  return param;
} catch (...) {
  detail::raiseExhausted({});
}

Param &Param::operator=(const Param &other) try {
  if (this != &other)
    *this = Param(other);
  return *this;
} catch (...) {
  detail::raiseExhausted({});
}

int64_t Param::numel() const {
  int64_t count = 1;
  for (Dim dim : shape())
    count *= dim.value;
  return count;
}

Tensor Param::own_value(Where where) const try {
  held("tensor", where);
  Tensor value = detail::readCell(state, where);
  return frozen || predicting ? value.detach(where) : value;
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Param::tensor(Where where) const try {
  Tensor value = own_value(where);
  return form ? form->value(value, where) : value;
} catch (...) {
  detail::raiseExhausted(where);
}

void Param::set(const Tensor &value, Where where) try {
  held("set", where);
  if (!value.defined())
    detail::throwEmpty("set", where);
  detail::updateCell(state, value, where);
} catch (...) {
  detail::raiseExhausted(where);
}

void Param::share(const Param &other, Where where) try {
  other.held("tie", where);
  if (state &&
      (dtype() != other.dtype() || !sameExtents(shape(), other.shape()) ||
       device() != other.device()))
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("tie: types differ: {} on {} and {} "
                              "on {}",
                              typeOf(*state), toString(device()),
                              typeOf(*other.state), toString(other.device()))),
        where);
  state = other.state;
  recordId = other.recordId;
  fileMapper = other.fileMapper;
  frozen = other.frozen;
  predicting = other.predicting;
} catch (...) {
  detail::raiseExhausted(where);
}

void Param::tie(const Param &other, Where where) try {
  share(other, where);
  form = other.form;
} catch (...) {
  detail::raiseExhausted(where);
}

void Param::become(Param &&other) {
  std::shared_ptr<Parametrization> kept = std::move(form);
  *this = std::move(other);
  form = std::move(kept);
}

Param Param::to(DeviceId device, Where where) const try {
  held("to", where);
  if (device == this->device())
    return *this;
  Param moved = replaced(
      detail::readCell(state, where).detach(where).to(device, where), where);
  if (moved.form)
    for (auto &[name, part] : moved.form->parts)
      part = part.to(device, where);
  return moved;
} catch (...) {
  detail::raiseExhausted(where);
}

Param Param::cast(DType dtype, Where where) const try {
  held("cast", where);
  if (!isFloat(dtype))
    detail::raise(makeError(ErrorKind::invalid_argument,
                            fmt::format("cast: parameters are floats, not {}: "
                                        "{}",
                                        sinter::name(dtype), typeOf(*state)),
                            "cast"),
                  where);
  if (dtype == this->dtype() || !isFloat(this->dtype()))
    return *this;
  Param changed = replaced(
      detail::readCell(state, where).detach(where).to(dtype, where), where);
  if (changed.form)
    for (auto &[name, part] : changed.form->parts)
      part = part.cast(dtype, where);
  return changed;
} catch (...) {
  detail::raiseExhausted(where);
}

Param Param::map(const TensorMapper &function, Where where) const try {
  held("map", where);
  detail::SourceScope scope(where);
  no_grad guard;
  return replaced(function(detail::readCell(state, where)), where);
} catch (...) {
  detail::raiseExhausted(where);
}

Param Param::replaced(const Tensor &value, Where where) const try {
  Param copy;
  copy.state = Param(value, name(), state->requiresGrad(), where).state;
  copy.recordId = recordId;
  copy.fileMapper = fileMapper;
  copy.form = form ? form->copy() : nullptr;
  copy.frozen = frozen;
  copy.predicting = predicting;
  return copy;
} catch (...) {
  detail::raiseExhausted(where);
}

//===- The first value ----------------------------------------------------===//

bool Param::is_initialized() const {
  return runtime::CellTable::get().hasValue(held("is_initialized"));
}

Param Param::init_mapper(TensorMapper function, Where where) const try {
  held("init_mapper", where);
  std::shared_ptr<runtime::LazyValue> first =
      runtime::CellTable::get().unmadeValue(*state);
  if (!first)
    return map(function, where);
  runtime::CellSpec spec{.dtype = dtype(),
                         .dims = shape(),
                         .device = device(),
                         .requiresGrad = state->requiresGrad(),
                         .name = name()};
  auto record = [first, function = std::move(function), dims = spec.dims,
                 dtype = spec.dtype, device = spec.device,
                 site = detail::userSite(where)]() -> Result<graph::NodeRef> {
    SINTER_TRY_ASSIGN(graph::NodeRef value,
                      runtime::CellTable::get().record(*first));
    return recordFirst([&] { return function(Tensor(value)); }, dims, dtype,
                       device, site);
  };
  Param copy = *this;
  copy.state = runtime::Cell::lazy(std::move(spec), std::move(record));
  return copy;
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Mappers ------------------------------------------------------------===//

/// First one, then the other.
static std::shared_ptr<const TensorMapper>
chain(const std::shared_ptr<const TensorMapper> &first,
      const std::shared_ptr<const TensorMapper> &second) {
  if (!first || !second)
    return first ? first : second;
  return std::make_shared<const TensorMapper>(
      [first, second](const Tensor &value) {
        return (*second)((*first)(value));
      });
}

ParamMapper ParamMapper::on_load(TensorMapper function) const try {
  ParamMapper copy = *this;
  copy.load =
      chain(load, std::make_shared<const TensorMapper>(std::move(function)));
  return copy;
} catch (...) {
  detail::raiseExhausted({});
}

ParamMapper ParamMapper::on_save(TensorMapper function) const try {
  ParamMapper copy = *this;
  copy.save =
      chain(std::make_shared<const TensorMapper>(std::move(function)), save);
  return copy;
} catch (...) {
  detail::raiseExhausted({});
}

Tensor ParamMapper::loaded(const Tensor &value) const try {
  return load ? (*load)(value) : value;
} catch (...) {
  detail::raiseExhausted({});
}

Tensor ParamMapper::saved(const Tensor &value) const try {
  return save ? (*save)(value) : value;
} catch (...) {
  detail::raiseExhausted({});
}

Param Param::load_mapper(TensorMapper function) const try {
  Param copy = *this;
  copy.fileMapper = fileMapper.on_load(std::move(function));
  return copy;
} catch (...) {
  detail::raiseExhausted({});
}

Param Param::save_mapper(TensorMapper function) const try {
  Param copy = *this;
  copy.fileMapper = fileMapper.on_save(std::move(function));
  return copy;
} catch (...) {
  detail::raiseExhausted({});
}

ParamParts Param::consume(Where where) try {
  held("consume", where);
  if (form)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            "consume: '" + name() +
                                "' has a parametrization, "
                                "which the parts would lose",
                            "consume"),
                  where);
  ParamParts parts{recordId,
                   name(),
                   detail::readCell(state, where).detach(where),
                   fileMapper,
                   state->requiresGrad(),
                   frozen};
  *this = Param();
  return parts;
} catch (...) {
  detail::raiseExhausted(where);
}

Param Param::from_mapped_value(ParamParts parts, Where where) try {
  Param param(parts.value, std::move(parts.name), parts.requires_grad, where);
  param.recordId = parts.record_id;
  param.fileMapper = std::move(parts.mapper);
  param.frozen = parts.frozen;
  return param;
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Parametrizations ---------------------------------------------------===//

Parametrization::~Parametrization() = default;

void Param::parametrize(std::shared_ptr<Parametrization> given,
                        Where where) try {
  held("parametrize", where);
  if (given && form)
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("parametrize: '{}' has a parametrization "
                              "already: {}",
                              name(), form->kind()),
                  "parametrize"),
        where);
  form = std::move(given);
} catch (...) {
  detail::raiseExhausted(where);
}

//===- Text ---------------------------------------------------------------===//

std::ostream &operator<<(std::ostream &stream, const Param &param) {
  return stream << fmt::format("Param: {:016x}", param.record_id());
}

std::ostream &operator<<(std::ostream &stream, const ParamMapper &mapper) {
  return stream << fmt::format("ParamMapper {{ load: {}, save: {} }}",
                               mapper.has_load(), mapper.has_save());
}

static const char *trainingOf(const Param &param) {
  if (param.requires_grad())
    return "trained";
  return param.cell()->requiresGrad() ? "frozen" : "not trained";
}

std::string describe(const Param &param, std::source_location where) try {
  if (!param.defined())
    return "Param: empty";
  const ParamMapper &mapper = param.mapper();
  return fmt::format(
      "Param: {:016x} '{}' {} on {}, {}, ParamMapper {{ load: {}, save: {} }}",
      param.record_id(), param.name(), typeOf(*param.cell()),
      toString(param.device()), trainingOf(param), mapper.has_load(),
      mapper.has_save());
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter
