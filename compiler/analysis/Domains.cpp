/// Which outputs of a pointwise kernel are walked together.
#include "compiler/analysis/Domains.h"

#include "compiler/analysis/Shapes.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace sinter::compiler {

bool isOneElement(Value value) {
  Shape shape = shapeOf(value);
  return isOne(product(shape, 0, shape.size(), value.getContext()));
}

// The values that single numbers and sources alone decide.
static llvm::DenseSet<Value> numbersOf(program::KernelOp kernel) {
  llvm::DenseSet<Value> numbers;
  for (Value input : kernel.getInputs())
    if (isOneElement(input))
      numbers.insert(input);
  auto isNumber = [&](Value value) { return numbers.contains(value); };
  for (Operation &op : kernel.getBlock()) {
    auto described = dyn_cast<ir::SinterOpInterface>(&op);
    if (described && described.getPatternKind() != graph::PatternKind::random &&
        llvm::all_of(op.getOperands(), isNumber))
      numbers.insert(op.getResult(0));
  }
  return numbers;
}

llvm::SmallVector<unsigned> domainsOf(program::KernelOp kernel) {
  llvm::DenseSet<Value> numbers = numbersOf(kernel);
  llvm::EquivalenceClasses<unsigned> classes;
  llvm::DenseMap<Value, unsigned> owners;
  for (auto [number, output] : llvm::enumerate(kernel.getOutputs())) {
    classes.insert(number);
    bool isNumber = isOneElement(output);
    SmallVector<Value> pending{output};
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      if (numbers.contains(value) && !isNumber)
        continue;
      auto [owner, isNew] = owners.try_emplace(value, number);
      if (!isNew) {
        classes.unionSets(owner->second, number);
        continue;
      }
      if (Operation *op = value.getDefiningOp())
        pending.append(op->operand_begin(), op->operand_end());
    }
  }
  SmallVector<unsigned> domains;
  llvm::DenseMap<unsigned, unsigned> known;
  for (unsigned number = 0; number < kernel.getOutputs().size(); ++number)
    domains.push_back(
        known.try_emplace(classes.getLeaderValue(number), known.size())
            .first->second);
  return domains;
}

} // namespace sinter::compiler
