/// The program dialect's registration, verifiers and kernel syntax.
#include "dialects/program/Program.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "sinter/generated/ProgramDialect.cpp.inc"
#include "sinter/generated/ProgramEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "sinter/generated/ProgramAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "sinter/generated/ProgramOps.cpp.inc"

namespace sinter::program {

void ProgramDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "sinter/generated/ProgramAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "sinter/generated/ProgramOps.cpp.inc"
      >();
}

LogicalResult
ProgramDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  if (attribute.getName() != targetName)
    return success();
  if (!isa<ModuleOp>(op) || !isa<TargetAttr>(attribute.getValue()))
    return op->emitOpError("'program.target' is a #program.target of a module");
  return success();
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef, bool, bool, bool, bool, bool,
                                 DictionaryAttr machine) {
  for (NamedAttribute each :
       machine ? machine.getValue() : ArrayRef<NamedAttribute>()) {
    auto number = dyn_cast<IntegerAttr>(each.getValue());
    if (!number || !number.getType().isInteger(64) || number.getInt() < 1 ||
        number.getInt() > mostOfMachine)
      return emitError() << "a machine's " << each.getName()
                         << " is a positive i64 of at most " << mostOfMachine;
  }
  return success();
}

ScheduleAttr ScheduleAttr::keeping(DenseI64ArrayAttr inputs) {
  return get(inputs.getContext(), Skeleton::contraction, Owner::warp,
             Staging::memory, /*split=*/0, /*tile=*/"", /*variants=*/{},
             inputs);
}

ScheduleAttr ScheduleAttr::withTile(StringRef tile) const {
  return get(getContext(), getSkeleton(), getOwner(), getStaging(), getSplit(),
             tile, /*variants=*/{}, getKeptInputs());
}

ScheduleAttr ScheduleAttr::withSplit(int64_t split) const {
  return get(getContext(), getSkeleton(), getOwner(), getStaging(), split,
             getTile(), getVariants(), getKeptInputs());
}

ScheduleAttr ScheduleAttr::withVariants(ArrayRef<VariantAttr> variants) const {
  SmallVector<Attribute> all(variants);
  return get(getContext(), getSkeleton(), getOwner(), getStaging(), getSplit(),
             /*tile=*/"", ArrayAttr::get(getContext(), all), getKeptInputs());
}

SmallVector<VariantAttr> ScheduleAttr::getEachVariant() const {
  if (!getVariants())
    return {};
  return llvm::to_vector(getVariants().getAsRange<VariantAttr>());
}

TargetAttr targetOf(ModuleOp module) {
  if (auto target =
          module->getAttrOfType<TargetAttr>(ProgramDialect::targetName))
    return target;
  return TargetAttr::get(module.getContext(), "cpu", /*threads=*/false,
                         /*blocks=*/false, /*bytes=*/true,
                         /*byteProducts=*/false, /*matrixUnit=*/false,
                         /*machine=*/{});
}

OperandRange KernelOp::getOutputs() {
  return cast<YieldOp>(getBlock().getTerminator()).getValues();
}

// kernel ::= @name `(` arguments `)` `attributes` dict region
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(),
                             state.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  return parser.parseRegion(*state.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(getInputs(), printer, [&](BlockArgument argument) {
    printer.printRegionArgument(argument);
  });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           SymbolTable::getSymbolAttrName());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

// Of each the bytes, and an input that there is.
static LogicalResult verifyWorkspaces(KernelOp kernel) {
  std::optional<AffineMap> bytes = kernel.getWorkspaces();
  std::optional<ArrayRef<int64_t>> prepared = kernel.getPrepared();
  size_t count = bytes ? bytes->getNumResults() : 0;
  size_t inputs = kernel.getInputs().size();
  if (bytes && (bytes->getNumDims() != 0 ||
                bytes->getNumSymbols() != kernel.getNumSymbols()))
    return kernel.emitOpError("has workspaces of other symbols than its own");
  if ((prepared ? prepared->size() : 0) != count)
    return kernel.emitOpError("says of ")
           << (prepared ? prepared->size() : 0) << " of " << count
           << " workspaces what decides them";
  for (int64_t input : prepared.value_or(ArrayRef<int64_t>()))
    if (input < -1 || input >= int64_t(inputs))
      return kernel.emitOpError("has no input ") << input;
  return success();
}

// Of inputs that there are, each once.
static LogicalResult verifyKeptInputs(KernelOp kernel, ScheduleAttr schedule) {
  DenseI64ArrayAttr kept = schedule.getKeptInputs();
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t input : kept ? kept.asArrayRef() : ArrayRef<int64_t>()) {
    if (input < 0 || input >= int64_t(kernel.getInputs().size()))
      return kernel.emitOpError("has kept_inputs, but no input ") << input;
    if (!seen.insert(input).second)
      return kernel.emitOpError("has the input ")
             << input << " in kept_inputs twice";
  }
  return success();
}

static LogicalResult verifyVariants(KernelOp kernel, ScheduleAttr schedule) {
  if (!schedule.getVariants())
    return success();
  if (!schedule.getTile().empty())
    return kernel.emitOpError("has a tile, and variants that have");
  if (!llvm::all_of(schedule.getVariants(), llvm::IsaPred<VariantAttr>))
    return kernel.emitOpError("has variants that are no #program.variant");
  llvm::SmallDenseSet<Attribute> seen;
  for (VariantAttr variant : schedule.getEachVariant())
    if (!seen.insert(variant.getWhen()).second)
      return kernel.emitOpError("has two variants when ") << variant.getWhen();
  return success();
}

static LogicalResult verifySchedule(KernelOp kernel) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  return failure(schedule && (failed(verifyKeptInputs(kernel, schedule)) ||
                              failed(verifyVariants(kernel, schedule))));
}

LogicalResult KernelOp::verify() {
  if (getBody().empty() || getBlock().empty() ||
      !isa<YieldOp>(getBlock().back()))
    return emitOpError("body must end with program.yield");
  if (getOutputs().empty())
    return emitOpError("yields no value");
  if (int64_t(getNumSymbols()) < 0)
    return emitOpError("num_symbols = ")
           << int64_t(getNumSymbols()) << " is negative";
  auto symbolsFit = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return false;
    auto map = dyn_cast_or_null<AffineMapAttr>(tensor.getEncoding());
    return !map || map.getValue().getNumSymbols() == getNumSymbols();
  };
  for (Type type : getBlock().getArgumentTypes())
    if (!symbolsFit(type))
      return emitOpError("argument type ")
             << type << " does not use the kernel's " << getNumSymbols()
             << " symbols";
  return failure(failed(verifyWorkspaces(*this)) ||
                 failed(verifySchedule(*this)));
}

bool ForOp::isSingle() {
  auto count = dyn_cast<AffineConstantExpr>(getCount().getResult(0));
  return count && count.getValue() <= 1;
}

// The condition is a carry that is a flag, and what a step may not do then.
static LogicalResult verifyCondition(ForOp loop) {
  if (!loop.getCondition())
    return success();
  int64_t condition = int64_t(*loop.getCondition());
  int64_t carries = loop.getNumCarries();
  if (condition == 0 || condition < -carries || condition > carries)
    return loop.emitOpError("condition ") << condition << " is no carry";
  Value flag = loop.getInits()[std::abs(condition) - 1];
  auto type = cast<RankedTensorType>(flag.getType());
  if (type.getRank() != 0 || !type.getElementType().isInteger(1))
    return loop.emitOpError("condition is ")
           << type << ", not a boolean scalar";
  if (loop.getNumResults() != loop.getNumCarries())
    return loop.emitOpError("has a condition and stacks values");
  return success();
}

LogicalResult ForOp::verify() {
  Block &block = getBlock();
  if (block.empty() || !isa<NextOp>(block.back()))
    return emitOpError("body must end with program.next");
  unsigned carries = getNumCarries();
  if (getNumResults() < carries || getYielded().size() != getNumResults())
    return emitOpError("has ") << getNumResults() << " results, " << carries
                               << " carries and a body that gives "
                               << getYielded().size() << " values";
  if (block.getNumArguments() != getNumOperands())
    return emitOpError("has ") << getNumOperands() << " operands and a body of "
                               << block.getNumArguments() << " arguments";
  for (unsigned i = 0; i < carries; ++i)
    if (block.getArgument(i).getType() != getInits()[i].getType() ||
        getResult(i).getType() != getInits()[i].getType())
      return emitOpError("changes the type of carry ") << i;
  auto isSlice = [](Type slice, Type whole) {
    auto of = cast<RankedTensorType>(whole);
    return of.getRank() > 0 &&
           cast<RankedTensorType>(slice).getShape() ==
               of.getShape().drop_front() &&
           of.getElementType() ==
               cast<RankedTensorType>(slice).getElementType();
  };
  for (auto [i, x] : llvm::enumerate(getXs()))
    if (!isSlice(block.getArgument(carries + i).getType(), x.getType()))
      return emitOpError("argument ")
             << carries + i << " is no slice of " << x.getType();
  for (unsigned i = carries; i < getNumResults(); ++i)
    if (!isSlice(getYielded()[i].getType(), getResult(i).getType()))
      return emitOpError("result ")
             << i << " is no stack of " << getYielded()[i].getType();
  if (getCount().getNumDims() != 0 || getCount().getNumResults() != 1)
    return emitOpError("count has to be one number over symbols");
  return verifyCondition(*this);
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *callee = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  // Emitted: its functions take no tensors.
  if (isa_and_nonnull<ModuleOp>(callee))
    return success();
  auto kernel = dyn_cast_or_null<KernelOp>(callee);
  if (!kernel)
    return emitOpError("no kernel named ") << getCalleeAttr();
  if (kernel.getInputs().size() != getInputs().size())
    return emitOpError("passes ")
           << getInputs().size() << " buffers to a kernel of "
           << kernel.getInputs().size();
  if (kernel.getOutputs().size() != getOutputs().size())
    return emitOpError("takes ")
           << getOutputs().size() << " results of a kernel of "
           << kernel.getOutputs().size();
  if (getDims().getNumResults() != kernel.getNumSymbols())
    return emitOpError("gives ")
           << getDims().getNumResults() << " dims to a kernel of "
           << kernel.getNumSymbols() << " symbols";
  return success();
}

} // namespace sinter::program
