/// Tensors: between the structs of C callers and buffers.
#pragma once

#include "runtime/capi/DLPack.h"
#include "runtime/capi/Guard.h"
#include "runtime/device/Device.h"
#include "runtime/program/Program.h"

#include <optional>
#include <span>
#include <string>

namespace sinter::capi {

/// A port as errors say it, or another name.
struct Subject {
  const char *what = ""; ///< `input`, `output`, or all of it
  const runtime::Port *port = nullptr;
  std::span<const Expr> exprs = {};
  size_t number = 0;
  std::string name() const;
  /// `input 'x': WHY`.
  ErrorInfo invalid(const std::string &why) const;
  ErrorInfo unsupported(const std::string &why) const;
};

/// A struct of the caller's, checked as far as it goes without a port.
struct TensorView {
  void *data = nullptr;
  DType dtype = DType::f32;
  DeviceId device;
  std::span<const int64_t> dims;
  std::span<const int64_t> strides; ///< empty: dense
  uint64_t bytes = 0;               ///< of its elements, side by side
  bool isHost() const { return device.kind == DeviceKind::cpu; }
};

/// What the struct says. Of a null `data` nothing is said.
Result<TensorView> viewOf(const sinter_tensor &tensor, const Subject &subject);

/// Has `binding` stand for what the caller gives: its memory, where the device
/// reads that as it is, else a copy. The subject has a port.
Status bindTensor(const TensorView &view, const Subject &subject,
                  runtime::Device &device, runtime::Binding &binding);
/// Its dtype and dims alone.
Status bindDims(const TensorView &view, const Subject &subject,
                runtime::Binding &binding);

/// A buffer of the device's own with the elements.
Result<runtime::Output> copyOf(const TensorView &view, const Subject &subject,
                               runtime::Device &device);

/// The place of an output that the caller has memory for: the memory itself, or
/// its dims alone, where only a copy can go there.
Result<runtime::Place> placeOf(const TensorView &view, const Subject &subject,
                               runtime::Device &device);
/// Copies a result to the caller's memory; waits.
Status copyTo(const TensorView &view, const runtime::Output &result);

/// The struct of a result, in memory that stays the session's.
sinter_tensor tensorOf(const runtime::Output &result, DType dtype);

/// A tensor that owns a reference to the buffer. An error of kind `unsupported`
/// for devices that DLPack has no addresses of.
Result<DLManagedTensor *> toDLPack(const runtime::Output &result, DType dtype);

} // namespace sinter::capi
