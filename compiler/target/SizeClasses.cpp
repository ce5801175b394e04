/// SizeClasses: classes, and functions of them as expressions.
#include "compiler/target/SizeClasses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace mlir;

namespace sinter::compiler {

AffineExpr valueAt(AffineExpr size, ArrayRef<SizeStep> steps) {
  auto number = [&](int64_t value) {
    return getAffineConstantExpr(value, size.getContext());
  };
  AffineExpr value = steps.front().value;
  for (auto [before, step] : llvm::zip(steps, steps.drop_front())) {
    AffineExpr isLess = number(1).floorDiv(size.floorDiv(step.size) + 1);
    value = value + (number(1) - isLess) * (step.value - before.value);
  }
  return value;
}

int64_t leastOf(AffineExpr size) {
  return std::max<int64_t>(1, size.getLargestKnownDivisor());
}

SizeClasses::SizeClasses(AffineExpr size, const Names &names, int64_t least,
                         int64_t most)
    : size(size), names(names) {
  if (auto known = dyn_cast<AffineConstantExpr>(size))
    least = most = known.getValue();
  int64_t last = nameOf(most);
  for (int64_t name = nameOf(least); name <= last; name = next(name))
    classes.push_back(name);
}

// Between names about a size.
int64_t SizeClasses::stepAt(int64_t size) const {
  auto power = int64_t(llvm::bit_floor(uint64_t(size)));
  return std::max<int64_t>(1, power >> (names.digits - 1));
}

int64_t SizeClasses::next(int64_t name) const { return name + stepAt(name); }

int64_t SizeClasses::nameBelow(int64_t size) const {
  return size / stepAt(size) * stepAt(size);
}

int64_t SizeClasses::nameOf(int64_t size) const {
  size = std::clamp(size, names.first, names.last);
  int64_t below = nameBelow(size);
  return names.areAbove && below < size ? next(below) : below;
}

AffineExpr
SizeClasses::valueOf(llvm::function_ref<AffineExpr(int64_t)> at) const {
  SmallVector<SizeStep> steps;
  int64_t begin = 0;
  for (int64_t name : classes) {
    AffineExpr value = at(name);
    if (steps.empty() || steps.back().value != value)
      steps.push_back({names.areAbove ? begin : name, value});
    begin = name + 1;
  }
  return valueAt(size, steps);
}

} // namespace sinter::compiler
