/// Checks what callers give; takes it as it is, or copies it.
#include "runtime/capi/Tensors.h"

#include "runtime/capi/Structs.h"
#include "runtime/memory/Borrowed.h"
#include "runtime/program/ProgramData.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <vector>

using namespace sinter;
using namespace sinter::capi;
using namespace sinter::runtime;

std::string Subject::name() const {
  return port ? portName(what, *port, number) : what;
}

ErrorInfo Subject::invalid(const std::string &why) const {
  return capi::invalid(name() + ": " + why);
}

ErrorInfo Subject::unsupported(const std::string &why) const {
  return makeError(ErrorKind::unsupported, name() + ": " + why);
}

//===- Structs of callers -------------------------------------------------===//

static Result<DeviceId> deviceOf(const sinter_tensor &tensor,
                                 const Subject &subject) {
  bool isKind = tensor.device_kind >= SINTER_DEVICE_CPU &&
                tensor.device_kind <= SINTER_DEVICE_NULL;
  bool isSingle = tensor.device_kind == SINTER_DEVICE_CPU ||
                  tensor.device_kind == SINTER_DEVICE_NULL;
  if (!isKind || tensor.device_index < 0 ||
      tensor.device_index > (isSingle ? 0 : 255))
    return subject.invalid(
        fmt::format("there is no device of kind {} and index {}",
                    tensor.device_kind, tensor.device_index));
  return DeviceId{DeviceKind(tensor.device_kind), uint8_t(tensor.device_index)};
}

static Result<uint64_t> bytesOf(std::span<const int64_t> dims, DType dtype,
                                const Subject &subject) {
  uint64_t bytes = byteWidth(dtype);
  bool isEmpty = false, isTooLarge = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return subject.invalid(fmt::format("a dim is {}", dim));
    isEmpty |= dim == 0;
    isTooLarge |= __builtin_mul_overflow(bytes, uint64_t(dim), &bytes);
  }
  if (isEmpty)
    return uint64_t(0);
  if (isTooLarge || bytes > uint64_t(INT64_MAX))
    return subject.invalid("the dims are too large");
  return bytes;
}

Result<TensorView> capi::viewOf(const sinter_tensor &tensor,
                                const Subject &subject) {
  TensorView view;
  if (tensor.dtype < 0 || tensor.dtype >= int32_t(numDTypes) ||
      !isStorable(DType(tensor.dtype)))
    return subject.invalid(fmt::format("there is no dtype {}", tensor.dtype));
  view.dtype = DType(tensor.dtype);
  SINTER_TRY_ASSIGN(view.device, deviceOf(tensor, subject));
  if (tensor.ndim < 0 || tensor.ndim > int32_t(maxRank))
    return subject.invalid(fmt::format("{} dims", tensor.ndim));
  if (tensor.ndim > 0 && !tensor.dims)
    return subject.invalid("dims is null");
  view.dims = {tensor.dims, size_t(tensor.ndim)};
  if (tensor.strides)
    view.strides = {tensor.strides, size_t(tensor.ndim)};
  SINTER_TRY_ASSIGN(view.bytes, bytesOf(view.dims, view.dtype, subject));
  view.data = tensor.data;
  return view;
}

/// Strides of axes with one element, and of empty tensors, say nothing.
static bool isDense(const TensorView &view) {
  if (view.strides.empty() || view.bytes == 0)
    return true;
  int64_t expected = 1;
  for (size_t axis = view.dims.size(); axis-- > 0;) {
    if (view.dims[axis] != 1 && view.strides[axis] != expected)
      return false;
    expected *= view.dims[axis];
  }
  return true;
}

static Status checkType(const TensorView &view, const Subject &subject) {
  const Port &port = *subject.port;
  if (view.dtype == port.dtype && view.dims.size() == port.dims.size())
    return {};
  return subject.invalid(
      fmt::format("expected {}, got {}[{}]", portType(port, subject.exprs),
                  name(view.dtype), fmt::join(view.dims, ",")));
}

/// Whether kernels of the device may use the memory as it lies.
static bool isAligned(const TensorView &view, size_t alignment) {
  return reinterpret_cast<uintptr_t>(view.data) % alignment == 0;
}

static constexpr size_t gpuAlignment = 256;       // what allocations there have
static constexpr size_t hostOutputAlignment = 64; // of stores past the caches

/// Memory has to be the host's or the device's own.
static Status checkPlace(const TensorView &view, const Device &device,
                         const Subject &subject) {
  if (view.bytes > 0 && !view.data)
    return subject.invalid("data is null");
  if (view.isHost() ||
      (view.device == device.id() && view.device.kind != DeviceKind::vulkan))
    return {};
  if (view.device.kind == DeviceKind::vulkan)
    return subject.unsupported("memory of vulkan's has no addresses to give");
  return subject.invalid(fmt::format("it lies on {}, the model is on {}",
                                     toString(view.device),
                                     toString(device.id())));
}

//===- Inputs -------------------------------------------------------------===//

/// Copies elements of `width` bytes to lie side by side.
static void pack(const TensorView &view, size_t axis, const char *from,
                 char *&to, size_t width) {
  if (axis == view.dims.size()) {
    std::memcpy(to, from, width);
    to += width;
    return;
  }
  int64_t step = view.strides[axis] * int64_t(width);
  for (int64_t i = 0; i < view.dims[axis]; ++i)
    pack(view, axis + 1, from + i * step, to, width);
}

static std::vector<std::byte> packed(const TensorView &view) {
  std::vector<std::byte> bytes(view.bytes);
  auto *to = reinterpret_cast<char *>(bytes.data());
  pack(view, 0, static_cast<const char *>(view.data), to,
       byteWidth(view.dtype));
  return bytes;
}

static Result<BufferRef> copyOfHost(const TensorView &view, Device &device) {
  SINTER_TRY_ASSIGN(BufferRef buffer, device.allocate(view.bytes));
  if (view.bytes == 0)
    return buffer;
  if (isDense(view))
    SINTER_TRY(device.copyIn(
        *buffer, 0,
        {static_cast<const std::byte *>(view.data), size_t(view.bytes)}));
  else
    SINTER_TRY(device.copyIn(*buffer, 0, packed(view)));
  return buffer;
}

/// Memory of a GPU goes there in the order of its stream.
static Result<BufferRef> copyOfOwn(const TensorView &view, Device &device) {
  SINTER_TRY_ASSIGN(BufferRef buffer, device.allocate(view.bytes));
  SINTER_TRY(device.move(buffer->data(), view.data, view.bytes));
  return buffer;
}

static Result<BufferRef> bufferOf(const TensorView &view, Device &device,
                                  const Subject &subject) {
  SINTER_TRY(checkPlace(view, device, subject));
  bool onHost = view.isHost() || device.sharesHostMemory();
  if (!onHost && !isDense(view))
    return subject.unsupported("memory of a GPU has to be dense");
  size_t alignment = onHost ? byteWidth(view.dtype) : gpuAlignment;
  bool isReadable = onHost == device.sharesHostMemory();
  if (isReadable && isDense(view) && isAligned(view, alignment))
    return borrowBuffer(device, view.data, view.bytes);
  if (onHost)
    return copyOfHost(view, device);
  return copyOfOwn(view, device);
}

Result<Output> capi::copyOf(const TensorView &view, const Subject &subject,
                            Device &device) {
  SINTER_TRY(checkPlace(view, device, subject));
  if (!view.isHost() && !isDense(view))
    return subject.unsupported("memory of a GPU has to be dense");
  Output output;
  output.dims.assign(view.dims.begin(), view.dims.end());
  SINTER_TRY_ASSIGN(output.buffer, view.isHost() ? copyOfHost(view, device)
                                                 : copyOfOwn(view, device));
  return output;
}

static Status bindScalar(const TensorView &view, const Subject &subject,
                         Binding &binding) {
  if (!view.isHost())
    return subject.invalid("a number has to lie in the host's memory");
  if (!view.data)
    return subject.invalid("data is null");
  binding.scalarBits = 0;
  std::memcpy(&binding.scalarBits, view.data, byteWidth(view.dtype));
  return {};
}

Status capi::bindDims(const TensorView &view, const Subject &subject,
                      Binding &binding) {
  SINTER_TRY(checkType(view, subject));
  binding.dims.assign(view.dims.begin(), view.dims.end());
  return {};
}

Status capi::bindTensor(const TensorView &view, const Subject &subject,
                        Device &device, Binding &binding) {
  SINTER_TRY(bindDims(view, subject, binding));
  if (subject.port->kind == graph::InputKind::scalar)
    return bindScalar(view, subject, binding);
  SINTER_TRY_ASSIGN(binding.buffer, bufferOf(view, device, subject));
  return {};
}

//===- Outputs ------------------------------------------------------------===//

Result<Place> capi::placeOf(const TensorView &view, const Subject &subject,
                            Device &device) {
  SINTER_TRY(checkType(view, subject));
  SINTER_TRY(checkPlace(view, device, subject));
  if (!isDense(view))
    return subject.unsupported("an output has to be dense");
  Place place;
  place.dims = view.dims;
  bool onHost = view.isHost() || device.sharesHostMemory();
  if (onHost == device.sharesHostMemory() &&
      isAligned(view, onHost ? hostOutputAlignment : gpuAlignment))
    place.buffer = borrowBuffer(device, view.data, view.bytes);
  return place;
}

Status capi::copyTo(const TensorView &view, const Output &result) {
  if (view.bytes == 0)
    return {};
  Device &device = result.buffer->device();
  if (view.isHost() || device.sharesHostMemory())
    return device.copyOut(
        {static_cast<std::byte *>(view.data), size_t(view.bytes)},
        *result.buffer, 0);
  return device.move(view.data, result.buffer->data(), view.bytes);
}

sinter_tensor capi::tensorOf(const Output &result, DType dtype) {
  DeviceId device = result.buffer->device().id();
  sinter_tensor tensor{};
  tensor.data = result.buffer->data();
  tensor.dtype = sinter_dtype(dtype);
  tensor.device_kind = sinter_device_kind(device.kind);
  tensor.device_index = device.index;
  tensor.ndim = int32_t(result.dims.size());
  tensor.dims = result.dims.data();
  return tensor;
}

//===- DLPack -------------------------------------------------------------===//

namespace {
struct KnownType {
  uint8_t code, bits;
  DType dtype;
};
} // namespace

/// DLPack's types of fewer than 8 bits are packed, which ours are not.
static constexpr KnownType knownTypes[] = {
    {dlpack::real, 64, DType::f64},
    {dlpack::real, 32, DType::f32},
    {dlpack::real, 16, DType::f16},
    {dlpack::bfloat, 16, DType::bf16},
    {dlpack::signedInteger, 8, DType::i8},
    {dlpack::signedInteger, 16, DType::i16},
    {dlpack::signedInteger, 32, DType::i32},
    {dlpack::signedInteger, 64, DType::i64},
    {dlpack::unsignedInteger, 8, DType::u8},
    {dlpack::unsignedInteger, 16, DType::u16},
    {dlpack::unsignedInteger, 32, DType::u32},
    {dlpack::unsignedInteger, 64, DType::u64},
    {dlpack::boolean, 8, DType::boolean},
    {dlpack::complex, 64, DType::c64},
    {dlpack::complex, 128, DType::c128},
    {dlpack::float8E4m3fn, 8, DType::f8e4m3fn},
    {dlpack::float8E4m3fnuz, 8, DType::f8e4m3fnuz},
    {dlpack::float8E5m2, 8, DType::f8e5m2},
    {dlpack::float8E5m2fnuz, 8, DType::f8e5m2fnuz},
    {dlpack::float8E8m0fnu, 8, DType::f8e8m0fnu},
};

static Result<DType> dtypeOf(DLDataType type) {
  for (const KnownType &each : knownTypes)
    if (each.code == type.code && each.bits == type.bits && type.lanes == 1)
      return each.dtype;
  return makeError(
      ErrorKind::unsupported,
      fmt::format("DLPack: no dtype for code {}, {} bits, {} lanes", type.code,
                  type.bits, type.lanes));
}

static Result<DLDataType> typeOf(DType dtype) {
  for (const KnownType &each : knownTypes)
    if (each.dtype == dtype)
      return DLDataType{each.code, each.bits, 1};
  return makeError(ErrorKind::unsupported,
                   fmt::format("DLPack: no type for {}", name(dtype)));
}

static Status fillView(const DLTensor &from, sinter_tensor *tensor) {
  sinter_tensor view{};
  SINTER_TRY_ASSIGN(DType dtype, dtypeOf(from.dtype));
  view.dtype = sinter_dtype(dtype);
  switch (from.device.device_type) {
  case dlpack::cpu:
  case dlpack::cudaHost:
    break;
  case dlpack::cuda:
  case dlpack::cudaManaged:
    view.device_kind = SINTER_DEVICE_CUDA;
    view.device_index = from.device.device_id;
    break;
  default:
    return makeError(ErrorKind::unsupported,
                     fmt::format("DLPack: devices of type {} are not known",
                                 from.device.device_type));
  }
  if (from.data)
    view.data = static_cast<char *>(from.data) + from.byte_offset;
  view.ndim = from.ndim;
  view.dims = from.shape;
  view.strides = from.strides;
  SINTER_TRY(viewOf(view, {.what = "DLPack"}));
  fillStruct(tensor, view);
  return {};
}

sinter_status sinter_tensor_from_dlpack(const DLManagedTensor *managed,
                                        sinter_tensor *tensor) {
  return guarded([&]() -> Status {
    if (!managed)
      return invalid("the DLPack tensor is null");
    SINTER_TRY(checkStruct(tensor, "sinter_tensor"));
    return fillView(managed->dl_tensor, tensor);
  });
}

//===- Copies between tensors ---------------------------------------------===//

static Result<Device *> deviceOfView(const TensorView &view,
                                     const Subject &subject) {
  if (view.device.kind == DeviceKind::vulkan)
    return subject.unsupported("memory of vulkan's has no addresses to give");
  if (view.bytes > 0 && !view.data)
    return subject.invalid("data is null");
  if (!isDense(view))
    return subject.unsupported("it has to be dense");
  return getDevice(view.device);
}

static Status copyTensor(const TensorView &from, const TensorView &to) {
  SINTER_TRY_ASSIGN(Device * source, deviceOfView(from, {.what = "from"}));
  SINTER_TRY_ASSIGN(Device * target, deviceOfView(to, {.what = "to"}));
  if (from.dtype != to.dtype || !std::ranges::equal(from.dims, to.dims))
    return invalid(fmt::format("copy: {}[{}] to {}[{}]", name(from.dtype),
                               fmt::join(from.dims, ","), name(to.dtype),
                               fmt::join(to.dims, ",")));
  if (from.bytes == 0)
    return {};
  BufferRef given = borrowBuffer(*source, from.data, from.bytes);
  BufferRef taken = borrowBuffer(*target, to.data, to.bytes);
  SINTER_TRY(source == target ? target->copy(*taken, *given, from.bytes)
                              : target->copyAcross(*taken, *given, from.bytes));
  SINTER_TRY_ASSIGN(auto event, target->record());
  return event->wait();
}

sinter_status sinter_tensor_copy(const sinter_tensor *from,
                                 const sinter_tensor *to) {
  return guarded([&]() -> Status {
    SINTER_TRY_ASSIGN(sinter_tensor source, readStruct(from, "from"));
    SINTER_TRY_ASSIGN(sinter_tensor target, readStruct(to, "to"));
    SINTER_TRY_ASSIGN(TensorView given, viewOf(source, {.what = "from"}));
    SINTER_TRY_ASSIGN(TensorView taken, viewOf(target, {.what = "to"}));
    return copyTensor(given, taken);
  });
}

namespace {
/// A DLPack tensor and what it needs.
struct Shared {
  DLManagedTensor managed{};
  Output result;
  std::vector<int64_t> strides; // some readers want them
};
} // namespace

Result<DLManagedTensor *> capi::toDLPack(const Output &result, DType dtype) {
  Device &device = result.buffer->device();
  DeviceId id = device.id();
  if (id.kind != DeviceKind::cpu && id.kind != DeviceKind::cuda)
    return makeError(ErrorKind::unsupported,
                     fmt::format("DLPack: memory of {} has no addresses there",
                                 toString(id)));
  SINTER_TRY_ASSIGN(DLDataType type, typeOf(dtype));
  std::vector<int64_t> strides(result.dims.size(), 1);
  for (size_t axis = strides.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * result.dims[axis];
  auto *shared = new Shared{{}, result, std::move(strides)};
  DLTensor &tensor = shared->managed.dl_tensor;
  tensor.data = result.buffer->data();
  tensor.device = {id.kind == DeviceKind::cpu ? dlpack::cpu : dlpack::cuda,
                   id.index};
  tensor.ndim = int32_t(shared->result.dims.size());
  tensor.dtype = type;
  tensor.shape = shared->result.dims.data();
  tensor.strides = shared->strides.data();
  shared->managed.manager_ctx = shared;
  shared->managed.deleter = [](DLManagedTensor *self) {
    delete static_cast<Shared *>(self->manager_ctx);
  };
  return &shared->managed;
}
