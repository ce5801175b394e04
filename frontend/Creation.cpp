/// Leaves from host values, and the ops without operands.
#include <sinter/Creation.h>

#include "frontend/Composed.h"
#include "frontend/Leaves.h"
#include "frontend/Pending.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/SiteMemory.h"
#include "runtime/device/Device.h"
#include "runtime/device/ThreadPool.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Symbols.h"
#include "runtime/memory/Borrowed.h"
#include "runtime/support/Flags.h"
#include "runtime/support/ThreadOwner.h"
#include "sinter/runtime/Complex.h"

#include <sinter/BasicOps.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace sinter {

using detail::raise;
using detail::unwrap;
using graph::NodeFactory;

//===- Default device -----------------------------------------------------===//

static std::optional<DeviceId> &threadDevice() {
  static SINTER_THREAD_LOCAL std::optional<DeviceId> device;
  return device;
}

DeviceId default_device() {
  std::optional<DeviceId> &device = threadDevice();
  if (!device)
    device = unwrap(parseDevice(flags().device), {});
  return *device;
}

void set_default_device(DeviceId device) { threadDevice() = device; }
void set_default_device(std::string_view name) try {
  threadDevice() = unwrap(parseDevice(name), {});
} catch (...) {
  detail::raiseExhausted({});
}
DeviceId device(std::string_view name) { return unwrap(parseDevice(name), {}); }
void synchronize(DeviceId device) try {
  if (Status done = unwrap(runtime::getDevice(device), {})->synchronize();
      !done)
    raise(done.takeError(), {});
} catch (...) {
  detail::raiseExhausted({});
}
void synchronize(std::string_view name) { synchronize(device(name)); }
DeviceId detail::currentDevice() { return default_device(); }

//===- Leaves -------------------------------------------------------------===//

/// Elements of a shape of host values; it must be non-negative.
static int64_t countElements(const Dims &shape, std::source_location where) {
  int64_t count = 1;
  for (Dim dim : shape) {
    if (dim.value < 0 || __builtin_mul_overflow(count, dim.value, &count))
      raise(makeError(ErrorKind::invalid_argument,
                      fmt::format("tensor: bad extent {}", dim.value),
                      "tensor"),
            where);
  }
  return count;
}

namespace {
struct BatchAxis {
  int64_t extent = -1;
  SiteId site = 0;
  bool isAhead = false;
};
} // namespace

static BatchAxis &threadBatch() {
  static thread_local BatchAxis batch;
  return batch;
}

detail::BatchScope::BatchScope(int64_t extent, SiteId site, bool isAhead)
    : previousExtent(threadBatch().extent), previousSite(threadBatch().site),
      previousIsAhead(threadBatch().isAhead) {
  threadBatch() = {extent, site, isAhead};
}
detail::BatchScope::~BatchScope() {
  threadBatch() = {previousExtent, previousSite, previousIsAhead};
}

/// The dims of a data leaf made at `where`: those that vary there are symbols,
/// and so is axis 0 of a batch, which is called after the batch's line.
static Dims leafDims(DType dtype, const Dims &shape, const SourceLine &where) {
  Dims dims(shape);
  if (dims.empty())
    return dims;
  const BatchAxis &batch = threadBatch();
  bool isOfBatch = dims[0].value == batch.extent && batch.site != 0;
  // What a batch's items vary in is seen with the batch's extent set aside.
  if (isOfBatch)
    dims[0] = Dim(0);
  detail::AxisSet symbolic = detail::symbolicAxes(where, dtype, dims);
  dims[0] = shape[0];
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    bool isBatch = axis == 0 && isOfBatch;
    if (!dims[axis].isConstant() || !(isBatch || symbolic >> axis & 1))
      continue;
    SiteId site = isBatch ? batch.site : detail::siteOf(where);
    uint32_t origin = axis == 0 ? 0 : uint32_t(axis) + dim_exprs::noticedAxis;
    dims[axis].expr = dim_exprs::symbol(site, origin, dims[axis].value);
  }
  return dims;
}

Tensor from_bytes(std::span<const std::byte> bytes, DType dtype,
                  const Dims &shape, Options options,
                  std::source_location where) try {
  size_t wanted = countElements(shape, where) * byteWidth(dtype);
  if (wanted != bytes.size())
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("tensor: {} elements of {} do not fill {}",
                                bytes.size() / byteWidth(dtype), name(dtype),
                                typeString(graph::TensorType{dtype, shape})),
                    "tensor"),
          where);
  return detail::leafOf(bytes, dtype, leafDims(dtype, shape, where), options,
                        where);
} catch (...) {
  detail::raiseExhausted(where);
}

/// Room for bytes that go to a device.
static std::unique_ptr<runtime::Upload> beginUpload(size_t bytes, DeviceId id,
                                                    const SourceLine &where) {
  runtime::Device *device = unwrap(runtime::getDevice(id), where);
  return unwrap(threadBatch().isAhead ? device->upload(bytes)
                                      : device->Device::upload(bytes),
                where);
}

detail::LeafRoom::LeafRoom(DType dtype, const Dims &shape,
                           const Options &options, const SourceLine &where)
    : dtype(dtype), dims(leafDims(dtype, shape, where)), line(where),
      upload(beginUpload(size_t(countElements(shape, where)) * byteWidth(dtype),
                         options.device.value_or(default_device()), where)) {}

Tensor detail::LeafRoom::finish() {
  runtime::BufferRef buffer = unwrap(upload->send(), line);
  detail::enterLine(line);
  return Tensor(NodeFactory::leaf(graph::InputKind::data, dtype, dims,
                                  std::move(buffer)));
}

namespace {
/// Copies bytes part by part and says so of each, on all threads where the
/// device's memory is the process's own.
class LeavingCopy {
public:
  LeavingCopy(runtime::Device &device, runtime::Buffer &to,
              std::span<const std::byte> from, const detail::Copied &copied)
      : device(device), to(to), from(from), copied(copied) {}

  Status run() {
    auto parts = int64_t((from.size() + part - 1) / part);
    auto body = [](void *context, int64_t first, int64_t last) {
      static_cast<LeavingCopy *>(context)->copyParts(size_t(first),
                                                     size_t(last));
    };
    if (device.sharesHostMemory())
      sinter_parallel_for(body, this, parts);
    else
      body(this, 0, parts);
    return std::move(failed);
  }

private:
  static constexpr size_t part = size_t(4) << 20;

  void copyParts(size_t begin, size_t end) {
    for (size_t at = begin * part; at < std::min(end * part, from.size());
         at += part) {
      auto bytes = from.subspan(at, std::min(part, from.size() - at));
      if (Status done = device.copyIn(to, at, bytes); !done) {
        std::lock_guard lock(mutex);
        failed = std::move(done);
        return;
      }
      copied(bytes);
    }
  }

  runtime::Device &device;
  runtime::Buffer &to;
  std::span<const std::byte> from;
  const detail::Copied &copied;
  std::mutex mutex;
  Status failed;
};
} // namespace

Tensor detail::leafOf(std::span<const std::byte> bytes, DType dtype,
                      const Dims &dims, const Options &options,
                      const SourceLine &where, const Copied &copied) {
  DeviceId id = options.device.value_or(default_device());
  runtime::Device *device = unwrap(runtime::getDevice(id), where);
  runtime::BufferRef buffer;
  if (threadBatch().isAhead && !copied && !device->sharesHostMemory()) {
    auto upload = unwrap(device->upload(bytes.size()), where);
    std::ranges::copy(bytes, upload->room().begin());
    buffer = unwrap(upload->send(), where);
  } else {
    buffer = unwrap(device->allocate(bytes.size()), where);
    if (copied)
      unwrap(LeavingCopy(*device, *buffer, bytes, copied).run(), where);
    else
      unwrap(device->copyIn(*buffer, 0, bytes), where);
  }
  detail::enterLine(where);
  Tensor leaf(NodeFactory::leaf(graph::InputKind::data, dtype, dims,
                                std::move(buffer)));
  return options.dtype ? leaf.to(*options.dtype, where) : leaf;
}

Tensor detail::sizeScalar(Dim size, DeviceId device, const SourceLine &where) {
  Recorder recorder(graph::OpId::extent, where);
  if (size.isConstant())
    return Tensor(scalarNode(DType::i64, Number(size.value), device));
  return recorder.result(graph::extent(size, DType::i64, device));
}

std::optional<Tensor> detail::borrowedLeaf(std::span<const std::byte> bytes,
                                           DType dtype, const Dims &dims,
                                           DeviceId device,
                                           std::function<void()> release,
                                           const SourceLine &where) {
  runtime::Device *owner = unwrap(runtime::getDevice(device), where);
  auto *data = const_cast<std::byte *>(bytes.data());
  bool isAligned = reinterpret_cast<uintptr_t>(data) % byteWidth(dtype) == 0;
  if (!isAligned || !owner->sharesHostMemory())
    return std::nullopt;
  // What is borrowed is granted to no output.
  runtime::BufferRef buffer =
      runtime::borrowBuffer(*owner, data, bytes.size(), std::move(release));
  return Tensor(NodeFactory::leaf(graph::InputKind::data, dtype, dims,
                                  std::move(buffer)));
}

void detail::throwRagged(std::source_location where) {
  raise(makeError(ErrorKind::invalid_argument,
                  "tensor: rows have different lengths", "tensor"),
        where);
}

//===- Sources ------------------------------------------------------------===//

Tensor full(const Dims &shape, const Arg &value, Options options) try {
  detail::Recorder recorder(graph::OpId::full, value);
  DeviceId device = options.device.value_or(default_device());
  if (value.isTensor()) {
    if (value.isEmpty())
      recorder.fail("the value is an empty tensor", {});
    if (value.node()->rank() != 0)
      recorder.fail("the value must have rank 0", {});
    Tensor filled = recorder.result(detail::broadcastTo(value.node(), shape));
    return options.dtype ? filled.to(*options.dtype, value.where) : filled;
  }
  DType dtype = options.dtype.value_or(detail::ownDType(value.kind));
  if (isComplex(dtype))
    return full(shape, value, {partOf(dtype), device}).to(dtype, value.where);
  if (Status held = detail::checkHeld("full", dtype, value.number); !held)
    recorder.fail(held.takeError());
  if (value.dynamic)
    return recorder.result(graph::broadcast(
        detail::scalarNode(dtype, value.number, device), shape));
  return recorder.result(graph::full(shape, value.number, dtype, device));
} catch (...) {
  detail::raiseExhausted(value.where);
}

Tensor zeros(const Dims &shape, Options options,
             std::source_location where) try {
  return full(shape, Arg(0.0, where), options);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor ones(const Dims &shape, Options options,
            std::source_location where) try {
  return full(shape, Arg(1.0, where), options);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor iota(const Dims &shape, int64_t axis, Options options,
            std::source_location where) try {
  detail::Recorder recorder(graph::OpId::iota, where);
  return recorder.result(
      graph::iota(shape, axis, options.dtype.value_or(DType::i64),
                  options.device.value_or(default_device())));
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor arange(Dim size, Options options, std::source_location where) try {
  return iota({size}, 0, options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor arange(int64_t start, int64_t end, int64_t step, Options options,
              std::source_location where) try {
  detail::SourceScope scope(where);
  int64_t towards = step > 0 ? 1 : -1, distance = (end - start) * towards;
  if (step == 0 || distance < 0)
    raise(makeError(ErrorKind::invalid_argument,
                    fmt::format("arange: from {} to {} there is no step of {}",
                                start, end, step),
                    "arange"),
          where);
  int64_t size = std::abs(step);
  Tensor count = iota({(distance + size - 1) / size}, 0, {{}, options.device});
  return (count * step + start).to(options.dtype.value_or(DType::i64));
} catch (...) {
  detail::raiseExhausted(where);
}

// From both ends, so that either is exact.
Tensor linspace(double start, double end, int64_t count, Options options,
                std::source_location where) try {
  detail::SourceScope scope(where);
  DType dtype = options.dtype.value_or(DType::f32);
  if (count < 0 || !isFloat(dtype))
    raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("linspace: {} numbers of {}", count, name(dtype)),
                  "linspace"),
        where);
  DType wide = dtype == DType::f64 ? dtype : DType::f32;
  Tensor number = iota({count}, 0, {wide, options.device});
  double step = count > 1 ? (end - start) / double(count - 1) : 0;
  Tensor fromEnd = end - (double(count - 1) - number) * step;
  Tensor values =
      sinter::where(number < double(count) / 2, number * step + start, fromEnd);
  return values.to(dtype);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor full_like(const Arg &x, const Arg &value) try {
  detail::Composed call("full_like", x);
  return full(call.x.shape(), value, {call.x.dtype(), call.x.device()});
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor zeros_like(const Arg &x) { return full_like(x, Arg(0, x.where)); }
Tensor ones_like(const Arg &x) { return full_like(x, Arg(1, x.where)); }

} // namespace sinter
