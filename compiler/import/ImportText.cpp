/// The text form of a graph: reading, writing, and the numbers it implies.
#include "compiler/Passes.h"
#include "compiler/import/CheckNesting.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/InferShape.h"
#include "runtime/graph/ShapeChecks.h"

#include "dialects/program/Program.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_NUMBERNODES
#include "sinter/generated/Passes.h.inc"

static unsigned symbolsOf(func::FuncOp function) {
  auto count = function->getAttrOfType<IntegerAttr>(port_attrs::numSymbols);
  return count ? count.getInt() : 0;
}

// Every argument has a number, written or counted; ops take those that are
// left, in order.
static LogicalResult numberValues(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  std::set<int64_t> taken;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto node = function.getArgAttrOfType<IntegerAttr>(index, port_attrs::node);
    int64_t number = node ? node.getInt() : index;
    if (number < 0 || number > INT32_MAX || !taken.insert(number).second)
      return function.emitError("argument ")
             << index << " has the number " << number
             << ", which is taken or out of range";
    function.setArgAttr(
        index, port_attrs::node,
        IntegerAttr::get(IntegerType::get(context, 64), number));
    function.getArgument(index).setLoc(nodeLocation(context, number));
  }
  uint32_t next = 0;
  for (Operation &op : function.getBody().front().without_terminator()) {
    while (taken.contains(next))
      ++next;
    op.setLoc(nodeLocation(context, next++));
  }
  return success();
}

// The symbols that the types and dims of the function are written over.
static unsigned symbolsIn(func::FuncOp function) {
  unsigned count = 0;
  for (Type type : function.getArgumentTypes())
    count = std::max(count, numSymbolsOf(type));
  for (Operation &op : function.getBody().front().without_terminator())
    count = std::max(count, numSymbolsOf(&op));
  return count;
}

// Writes the count down where the text does not.
static LogicalResult checkNumSymbols(func::FuncOp function) {
  unsigned used = symbolsIn(function);
  Attribute stated = function->getAttr(port_attrs::numSymbols);
  if (!stated) {
    if (used)
      function->setAttr(port_attrs::numSymbols,
                        Builder(function.getContext()).getI64IntegerAttr(used));
    return success();
  }
  auto count = dyn_cast<IntegerAttr>(stated);
  if (!count || !count.getType().isInteger(64) || count.getInt() < used ||
      count.getInt() > INT32_MAX)
    return function.emitError(port_attrs::numSymbols)
           << " has to be an i64 that counts the symbols s0, s1, ... in use ("
           << used << "), not " << stated;
  return success();
}

// What the shape rules take for equal holds in a recorded graph, whose guards
// say so. A text may have been written by hand: what it leaves unsaid is added,
// so that no kernel reads beyond a tensor.
static LogicalResult addGuards(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  llvm::SmallSetVector<Attribute, 4> guards;
  if (auto stated = function->getAttrOfType<ArrayAttr>(port_attrs::guards))
    guards.insert_range(stated);
  auto add = [&](AffineExpr lhs, AffineExpr rhs) {
    auto map = [&](AffineExpr a, AffineExpr b) {
      return AffineMapAttr::get(
          AffineMap::get(0, symbolsOf(function), {a, b}, context));
    };
    if (lhs != rhs && !guards.contains(map(rhs, lhs)))
      guards.insert(map(lhs, rhs));
  };
  for (Operation &op : function.getBody().front().without_terminator()) {
    FailureOr<ir::InferredShape> inferred = ir::inferShape(&op);
    if (failed(inferred))
      return failure();
    for (auto [lhs, rhs] : inferred->equalities)
      add(ir::affineOf(context, lhs), ir::affineOf(context, rhs));
    for (auto [declared, dim] :
         llvm::zip(dimsOf(op.getResult(0).getType()), inferred->type.dims))
      add(declared, ir::affineOf(context, dim));
  }
  if (!guards.empty())
    function->setAttr(port_attrs::guards,
                      ArrayAttr::get(context, guards.getArrayRef()));
  return success();
}

// What ops give is checked by their shape rules, in the same way.
static LogicalResult checkSize(func::FuncOp function, RankedTensorType tensor) {
  int64_t elements = 1;
  bool fits = tensor.getRank() <= int64_t(graph::maxRank);
  for (int64_t dim : tensor.getShape())
    if (!ShapedType::isDynamic(dim))
      fits &= dim <= graph::maxDim &&
              !llvm::MulOverflow(elements, std::max<int64_t>(dim, 1), elements);
  if (!fits || elements > graph::maxElements)
    return function.emitError("an argument has more than ")
           << graph::maxRank << " axes, an axis of 2^31 elements or more, or "
           << "more than 2^58 elements: " << tensor;
  return success();
}

static LogicalResult checkSignature(func::FuncOp function) {
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto tensor =
        dyn_cast<RankedTensorType>(function.getArgument(index).getType());
    if (!tensor || !dtypeOf(tensor.getElementType()))
      return function.emitError("argument ")
             << index << " is not a tensor that can be computed with: "
             << function.getArgument(index).getType();
    if (!tensor.hasStaticShape() && !tensor.getEncoding())
      return function.emitError("argument ")
             << index
             << " has an unknown dim without an expression; write the dims as "
                "tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>: "
             << tensor;
    if (failed(checkSize(function, tensor)))
      return failure();
    if (!function.getArgAttr(index, port_attrs::kind))
      function.setArgAttr(index, port_attrs::kind,
                          StringAttr::get(function.getContext(), "data"));
  }
  return success();
}

static LogicalResult checkOps(func::FuncOp function) {
  for (Operation &op : function.getBody().front().without_terminator())
    if (!isa<ir::SinterOpInterface>(op))
      return op.emitError() << "not an op of the sinter dialect";
  return success();
}

// A tensor of a kernel as a launch has it.
static bool isAsLaunched(Type own, Type given, AffineMap dims) {
  auto tensor = cast<RankedTensorType>(own);
  llvm::SmallVector<AffineExpr, 6> expected;
  for (AffineExpr dim : dimsOf(own))
    expected.push_back(dim.replaceSymbols(dims.getResults()));
  auto other = cast<RankedTensorType>(given);
  return tensor.getElementType() == other.getElementType() &&
         ArrayRef(expected) == ArrayRef(dimsOf(given));
}

// Of a text that was printed after `fuse`: launches give kernels what those
// take, so that none reads beyond a tensor. Where buffers lie is found out
// again, never read.
static LogicalResult checkFormed(ModuleOp module, func::FuncOp function) {
  if (!module.getOps<program::BufferOp>().empty())
    return module.emitError("a text after `plan` is not read; one after `fuse` "
                            "is");
  constexpr int64_t mostSymbols = 1 << 16;
  for (auto kernel : module.getOps<program::KernelOp>())
    if (kernel.getNumSymbols() > mostSymbols)
      return kernel.emitError("has more than ") << mostSymbols << " symbols";
  WalkResult walked = function.walk([&](Operation *op) -> WalkResult {
    // Beside launches there are views, which move nothing.
    if (!isa_and_present<program::ProgramDialect, func::FuncDialect>(
            op->getDialect()) &&
        !isa<ir::SinterOpInterface>(op))
      return op->emitError() << "stands beside launches";
    auto launch = dyn_cast<program::LaunchOp>(op);
    if (!launch)
      return WalkResult::advance();
    auto kernel = module.lookupSymbol<program::KernelOp>(launch.getCallee());
    AffineMap dims = launch.getDims();
    auto fits = [&](auto pair) {
      return isAsLaunched(std::get<0>(pair), std::get<1>(pair), dims);
    };
    if (llvm::all_of(llvm::zip_equal(kernel.getBlock().getArgumentTypes(),
                                     launch.getInputs().getTypes()),
                     fits) &&
        llvm::all_of(llvm::zip_equal(kernel.getOutputs().getTypes(),
                                     launch.getResultTypes()),
                     fits))
      return WalkResult::advance();
    return launch.emitError("gives ")
           << launch.getCallee() << " other tensors than it takes";
  });
  return failure(walked.wasInterrupted());
}

bool isFormed(ModuleOp module) {
  return !module.getOps<program::KernelOp>().empty();
}

LogicalResult numberNodes(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function || function.getBody().getBlocks().size() != 1)
    return module.emitError(
        "the module needs a function `main` with one block");
  bool formed = isFormed(module);
  LogicalResult areKnown =
      formed ? checkFormed(module, function) : checkOps(function);
  if (failed(checkSignature(function)) || failed(areKnown) ||
      failed(numberValues(function)) || failed(checkNumSymbols(function)))
    return failure();
  return formed ? success() : addGuards(function);
}

OwningOpRef<ModuleOp> importText(std::string_view text, MLIRContext *context) {
  if (Status sane = checkNesting(text); !sane) {
    emitError(UnknownLoc::get(context)) << sane.error().message;
    return nullptr;
  }
  ParserConfig config(context);
  // The parser looks for a zero byte behind the text, which a view may lack.
  std::string ended(text);
  auto module = parseSourceString<ModuleOp>(ended, config);
  if (!module || failed(numberNodes(*module)))
    return nullptr;
  return module;
}

std::string exportText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << '\n';
  return text;
}

void numberResults(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  Builder builder(module.getContext());
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands())
    function.setResultAttr(
        operand.getOperandNumber(), port_attrs::node,
        builder.getI64IntegerAttr(nodesOf(operand.get().getLoc()).front()));
}

unsigned programSymbols(ModuleOp module) {
  return symbolsOf(module.lookupSymbol<func::FuncOp>("main"));
}

uint32_t numNodes(ModuleOp module) {
  uint32_t count = 0;
  auto add = [&](Location location) {
    for (uint32_t number : nodesOf(location))
      count = std::max(count, number + 1);
  };
  auto function = module.lookupSymbol<func::FuncOp>("main");
  for (BlockArgument argument : function.getArguments())
    add(argument.getLoc());
  for (Operation &op : function.getBody().front())
    add(op.getLoc());
  // Launches are fewer than the ops that results were numbered with.
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    auto node =
        function.getResultAttrOfType<IntegerAttr>(result, port_attrs::node);
    if (node && node.getInt() >= 0 && node.getInt() < INT32_MAX)
      count = std::max(count, uint32_t(node.getInt()) + 1);
  }
  return count;
}

namespace {

struct NumberNodesPass : impl::NumberNodesBase<NumberNodesPass> {
  void runOnOperation() override {
    if (failed(numberNodes(getOperation())))
      return signalPassFailure();
    numberResults(getOperation());
  }
};

} // namespace

} // namespace sinter::compiler
