/// Param: a named value of a module that training changes.
#include <sinter/Param.h>

#include "frontend/Raise.h"
#include "frontend/State.h"

#include <sinter/Creation.h>
#include <sinter/SourceScope.h>
#include <sinter/Transforms.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

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

/// While it lives, tensors of this thread are made on `device`.
class DeviceScope {
public:
  explicit DeviceScope(DeviceId device) : previous(default_device()) {
    set_default_device(device);
  }
  DeviceScope(const DeviceScope &) = delete;
  ~DeviceScope() { set_default_device(previous); }

private:
  DeviceId previous;
};

bool sameExtents(const Dims &a, const Dims &b) {
  return std::ranges::equal(a, b, {}, &Dim::value, &Dim::value);
}

/// Records the first value; user code may throw, the runtime may not see it.
Result<graph::NodeRef> recordInit(const Init &init, const Dims &shape,
                                  DType dtype, DeviceId device,
                                  const Generator &start,
                                  const SourceLine &where) {
  try {
    no_grad guard;
    DeviceScope deviceScope(device);
    detail::SourceScope scope(where);
    Generator generator = start;
    Tensor value = init(shape, dtype, generator);
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

} // namespace

Param::Param(std::string name, const Dims &shape, Init init,
             const ParamOptions &options, Where where)
    : recordId(nextRecordId()) {
  runtime::CellSpec spec{.dtype = options.dtype,
                         .dims = constantDims(shape),
                         .device = options.device.value_or(default_device()),
                         .requiresGrad = options.requires_grad,
                         .name = std::move(name)};
  auto record = [init = std::move(init), dims = spec.dims, dtype = spec.dtype,
                 device = spec.device, generator = default_generator().split(),
                 line = SourceLine(where)] {
    return recordInit(init, dims, dtype, device, generator, line);
  };
  state = runtime::Cell::lazy(std::move(spec), std::move(record));
}

Param::Param(const Tensor &value, std::string name, bool requires_grad,
             Where where)
    : recordId(nextRecordId()) {
  value.eval(where);
  runtime::CellSpec spec{.dtype = value.dtype(),
                         .dims = constantDims(value.shape()),
                         .device = value.device(),
                         .requiresGrad = requires_grad,
                         .name = std::move(name)};
  state = runtime::Cell::ready(std::move(spec), value.node()->value());
}

Param::Param(const Param &other)
    : state(other.state ? other.state->copy() : nullptr),
      recordId(other.recordId), frozen(other.frozen) {}

Param &Param::operator=(const Param &other) {
  if (this != &other)
    *this = Param(other);
  return *this;
}

int64_t Param::numel() const {
  int64_t count = 1;
  for (Dim dim : shape())
    count *= dim.value;
  return count;
}

Tensor Param::tensor(Where where) const {
  Tensor value = detail::readCell(state, where);
  return frozen ? value.detach(where) : value;
}

void Param::set(const Tensor &value, Where where) {
  detail::updateCell(state, value, where);
}

void Param::tie(const Param &other, Where where) {
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
  frozen = other.frozen;
}

Param Param::to(DeviceId device, Where where) const {
  Param copy = *this;
  if (device != this->device()) {
    Tensor moved =
        detail::readCell(state, where).detach(where).to(device, where);
    copy.state = Param(moved, name(), state->requiresGrad(), where).state;
  }
  return copy;
}

} // namespace sinter
