/// The target as an attribute of the module.
#include "compiler/Passes.h"
#include "compiler/target/Target.h"
#include "compiler/target/TargetAttr.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_SETTARGET
#include "sinter/generated/Passes.h.inc"

static bool multipliesBytes(const Target &target, MLIRContext *context) {
  auto byte = [&](IntegerType::SignednessSemantics sign) {
    return IntegerType::get(context, 8, sign);
  };
  return target.multipliesWords(byte(IntegerType::Unsigned),
                                byte(IntegerType::Signed));
}

// Null for a core: what cores differ in passes over tensors do not ask.
static DictionaryAttr machineAttr(const Target &target, MLIRContext *context) {
  if (!target.traits().manyTasks)
    return {};
  const MachineModel &machine = target.machines().usual;
  Builder builder(context);
  SmallVector<NamedAttribute> numbers;
  for (const MachineField &field : machineFields())
    if (machine.*field.value > 0)
      numbers.push_back(builder.getNamedAttr(
          field.name, builder.getI64IntegerAttr(machine.*field.value)));
  return builder.getDictionaryAttr(numbers);
}

MachineModel machineOf(program::TargetAttr target) {
  MachineModel machine = coreMachine();
  if (DictionaryAttr numbers = target.getMachine())
    for (const MachineField &field : machineFields())
      if (auto number = numbers.getAs<IntegerAttr>(field.name))
        machine.*field.value = number.getInt();
  return machine;
}

static bool isMachineField(StringRef name) {
  return llvm::any_of(machineFields(), [&](const MachineField &field) {
    return name == field.name;
  });
}

std::shared_ptr<const Target> targetFor(ModuleOp module) {
  program::TargetAttr attr = program::targetOf(module);
  auto target = makeTarget(std::string_view(attr.getName()));
  if (!target) {
    module.emitError(target.error().message);
    return nullptr;
  }
  if (DictionaryAttr machine = attr.getMachine())
    for (NamedAttribute number : machine)
      if (!isMachineField(number.getName())) {
        module.emitError("a machine has no ") << number.getName();
        return nullptr;
      }
  return *target;
}

static program::TargetAttr targetAttr(const Target &target,
                                      MLIRContext *context) {
  return program::TargetAttr::get(
      context, StringRef(target.name()), target.traits().manyTasks,
      target.blockThreads() != nullptr, target.storesBytes(),
      multipliesBytes(target, context), target.matrixUnit() != nullptr,
      machineAttr(target, context));
}

namespace {

struct SetTargetPass : impl::SetTargetBase<SetTargetPass> {
  using Base::Base;
  void runOnOperation() override {
    auto target = makeTarget(name);
    if (!target) {
      getOperation().emitError(target.error().message);
      return signalPassFailure();
    }
    getOperation()->setAttr(program::ProgramDialect::targetName,
                            targetAttr(**target, &getContext()));
  }
};

} // namespace

} // namespace sinter::compiler
