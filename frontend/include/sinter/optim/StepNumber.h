/// StepNumber: a number of an optimizer's step that is another one in the next.
#pragma once

#include <sinter/Tensor.h>

namespace sinter::optim {

/// The rate, the count of steps and what is computed of them: a number of the
/// host, and, while a step is recorded for a file (ModelExport), also the same
/// computed in the file, an f64 scalar, where it is no constant.
class StepNumber {
public:
  StepNumber(double value = 0) : number(value) {}
  StepNumber(double value, Tensor in_file)
      : number(value), tensor(std::move(in_file)) {}

  double value() const { return number; }
  /// Empty outside of such a recording, and of a constant.
  const Tensor &in_file() const { return tensor; }

  friend StepNumber operator+(const StepNumber &a, const StepNumber &b);
  friend StepNumber operator-(const StepNumber &a, const StepNumber &b);
  friend StepNumber operator*(const StepNumber &a, const StepNumber &b);
  friend StepNumber operator/(const StepNumber &a, const StepNumber &b);
  friend StepNumber sqrt(const StepNumber &a);

private:
  double number;
  Tensor tensor;
};

} // namespace sinter::optim
