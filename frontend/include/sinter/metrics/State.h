/// State: what a metric keeps on the device between batches.
#pragma once

#include <sinter/Param.h>

#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::metrics {

/// Named tensors of a metric, as a checkpoint holds them.
using StateMap = std::map<std::string, Tensor>;

/// One tensor that batches change, zeros at first. It is made on the device of
/// the first batch. What changes it is recorded and runs with whatever it was
/// computed from, so the update of a metric is part of the program of its step.
/// A copy changes by itself. One that a jitted function changes stays the same
/// one for good, so that later calls find it: `reset` makes it zeros. Not
/// thread-safe.
class State {
public:
  using Where = std::source_location;

  State() = default;
  explicit State(std::string name, Dims shape = {}, DType dtype = DType::f32)
      : label(std::move(name)), dims(std::move(shape)), type(dtype) {}

  const std::string &name() const { return label; }
  /// Whether there was anything since the beginning or `reset`.
  bool defined() const { return param.defined(); }
  /// The value now, as what is recorded next reads it: zeros on `device` if
  /// there was none. An update of before that nobody asked for runs first.
  Tensor tensor(DeviceId device, Where where = Where::current());
  /// Records that the value becomes `value`, which is brought to the state's
  /// dtype and has its shape. No gradient and no history goes along.
  void set(const Tensor &value, Where where = Where::current());
  /// Records that `value` is added.
  void add(const Tensor &value, Where where = Where::current());
  /// Records that the first value is `value`: nothing was there, nothing is
  /// made before.
  void begin(const Tensor &value, Where where = Where::current());
  void reset();

  /// Reads the elements; zeros if there was nothing.
  std::vector<double> values(Where where = Where::current()) const;
  /// The first of them.
  double value(Where where = Where::current()) const;
  /// The value, if it is recorded and not evaluated yet; else empty.
  Tensor waiting() const;
  /// The value as a tensor for a checkpoint; empty if there was nothing.
  Tensor saved(Where where = Where::current()) const;
  /// Takes back what `saved` gave. An Error when shapes or dtypes differ.
  void load(const Tensor &value, Where where = Where::current());

private:
  std::string label;
  Dims dims;
  DType type = DType::f32;
  Param param;
  bool isFixed = false; ///< a jitted function changes it
};

/// A sum of many f32 numbers that loses nothing from one batch to the next:
/// what rounding took away is kept beside it (Neumaier, 1974).
class Sum {
public:
  using Where = std::source_location;

  Sum() = default;
  explicit Sum(const std::string &name, const Dims &shape = {})
      : total(name, shape), lost(name + ".lost", shape) {}

  /// Records that `value`, of the shape, is added.
  void add(const Tensor &value, Where where = Where::current());
  void reset();
  std::vector<double> values(Where where = Where::current()) const;
  double value(Where where = Where::current()) const;

  State total, lost;
};

/// A count that a sum is divided by: `count`, or 1 where the sum is NaN, as the
/// mean is then whatever the count. So both are computed together: states of
/// one metric that have nothing recorded in common would be several programs.
Tensor count_beside(const Tensor &count, const Tensor &sum);

/// What is open while a metric records an update: ops belong to the user's
/// line and need no gradient.
class UpdateScope {
public:
  explicit UpdateScope(const std::source_location &where);
  ~UpdateScope();
  UpdateScope(const UpdateScope &) = delete;

private:
  struct Open;
  std::unique_ptr<Open> open;
};

} // namespace sinter::metrics
