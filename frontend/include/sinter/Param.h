/// Param: a named value of a module that training changes.
#pragma once

#include "runtime/params/Cell.h"

#include <sinter/Init.h>
#include <sinter/Tensor.h>

#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

namespace sinter {

struct ParamOptions {
  DType dtype = DType::f32;
  std::optional<DeviceId> device = {}; ///< default: the thread's default device
  bool requires_grad = true;
};

/// A value like any other: a copy has the same name, record id and contents
/// and changes by itself from then on (memory and first value are shared until
/// one of them does). Only `tie` makes two Params one. Operations take a Param
/// where they take a Tensor. A default-constructed Param is empty: only
/// assignment, copying and `operator bool` are allowed on it.
class Param {
public:
  using Where = std::source_location;

  Param() = default;
  /// Nothing is allocated or computed until the value is needed; the numbers
  /// of a random `init` are decided now. Shape, dtype and device are known.
  Param(std::string name, const Dims &shape, Init init,
        const ParamOptions &options = {}, Where where = Where::current());
  /// Takes the tensor's value, dtype, shape and device.
  explicit Param(const Tensor &value, std::string name = {},
                 bool requires_grad = true, Where where = Where::current());
  Param(const Param &other);
  Param &operator=(const Param &other);
  Param(Param &&) noexcept = default;
  Param &operator=(Param &&) noexcept = default;

  explicit operator bool() const { return state != nullptr; }
  std::string name() const { return state->name(); }
  /// Names this parameter in files of optimizers; kept by copies and by files.
  uint64_t record_id() const { return recordId; }
  DType dtype() const { return state->dtype(); }
  DeviceId device() const { return state->device(); }
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  const Dims &shape() const { return state->dims(); }
  int64_t numel() const;
  bool requires_grad() const { return !frozen && state->requiresGrad(); }
  /// Whether gradients are wanted; a frozen Param is not trained.
  void require_grad(bool on = true) { frozen = !on; }

  /// The value now. A recorded update that nobody asked for yet runs first.
  Tensor tensor(Where where = Where::current()) const;
  /// Records that the value becomes `value` (same dtype, shape and device).
  void set(const Tensor &value, Where where = Where::current());
  /// Makes this Param the same as `other` (same dtype, shape and device, unless
  /// this one is empty).
  void tie(const Param &other, Where where = Where::current());
  /// A copy on another device.
  Param to(DeviceId device, Where where = Where::current()) const;

  /// What the value lives in; the key of gradients and optimizer state.
  const runtime::CellRef &cell() const { return state; }
  /// For readers of files.
  void set_record_id(uint64_t id) { recordId = id; }

private:
  runtime::CellRef state;
  uint64_t recordId = 0;
  bool frozen = false;
};

} // namespace sinter
