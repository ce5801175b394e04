/// MetricCall: what updates of metrics check and share.
#pragma once

#include "frontend/Raise.h"

#include <sinter/metrics/Classification.h>

#include <string>
#include <string_view>

namespace sinter::metrics {

/// One call of a metric, which its errors name.
class MetricCall {
public:
  MetricCall(std::string_view name, const std::source_location &where)
      : name(name), where(where) {}

  [[noreturn]] void fail(const std::string &what) const;
  /// An Error unless the tensor is there.
  void require(const Tensor &tensor, std::string_view argument) const;
  /// An Error unless the extents are equal.
  void sameShape(const Tensor &a, std::string_view nameOfA, const Tensor &b,
                 std::string_view nameOfB) const;
  /// Floats of 16 bits, integers and bool as f32; f32 and f64 as f32.
  Tensor real(const Tensor &tensor, std::string_view argument) const;
  /// Where the mask is not 0; empty for an empty one.
  Tensor flags(const Tensor &mask, const Tensor &targets) const;

private:
  std::string_view name;
  const std::source_location &where;
};

/// What a batch's targets and predictions are.
struct Decisions {
  Tensor predicted; ///< classes i64; or bool
  Tensor actual;    ///< of the same kind
  Tensor keep;      ///< bool: is to take part; empty: all are
  Tensor isClass;   ///< bool
  Tensor valid;     ///< bool: both
  Tensor wrong;     ///< i64, rank 0: those that are to take part and are none
  bool isEmpty = false;
};

/// Targets as i64 classes or bool, and which are to take part.
Decisions readTargets(const MetricCall &call, const ClassOptions &options,
                      const ClassInput &input);
/// Sets `valid` and `wrong`; what takes part satisfies `also`, if given.
void finish(Decisions &made, const Tensor &also = {});
/// Those and what was predicted, finished.
Decisions decide(const MetricCall &call, const ClassOptions &options,
                 const ClassInput &input);
/// The class axis of `scores`, from 0 on; checks the shapes.
int64_t classAxis(const MetricCall &call, const ClassOptions &options,
                  const ClassInput &input);
/// Throws if targets were no classes.
void refuseWrong(const std::string &name, const State &wrong,
                 const ClassOptions &options);
/// An Error unless there are enough classes for the task.
void checkOptions(std::string_view name, const ClassOptions &options,
                  const std::source_location &where);

} // namespace sinter::metrics
