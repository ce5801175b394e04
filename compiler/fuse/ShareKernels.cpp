/// Kernels that differ only in where their slices and pads begin become one:
/// what differs is an argument of the launch.
#include "compiler/Passes.h"
#include "compiler/analysis/Access.h"
#include "compiler/fuse/KernelText.h"
#include "compiler/import/Types.h"
#include "compiler/lower/kernel/EmitKernel.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/View.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <numeric>

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_SHAREKERNELS
#include "sinter/generated/Passes.h.inc"

// Fewer stay as they are: a start that is known costs nothing when it is used.
static constexpr size_t fewestAlike = 4;

namespace {

/// One axis of a slice or a pad that begins at a known number.
struct Place {
  Operation *op;
  unsigned dim;
  int64_t start;
};

/// The kernels of one form, of which one is to be left.
class AlikeKernels {
public:
  explicit AlikeKernels(ArrayRef<program::KernelOp> kernels);

  /// The kernel that serves all, before the first of them; null where it cannot
  /// be emitted.
  program::KernelOp write();
  /// What a launch of the kernel with this number says behind its dims.
  SmallVector<AffineExpr> argumentsOf(size_t kernel) const;

private:
  AffineExpr exprOf(size_t place);
  AffineExpr newArgument(ArrayRef<int64_t> starts);

  SmallVector<program::KernelOp> kernels;
  MLIRContext *context;
  unsigned symbols; ///< those that the kernels have anyway
  /// By place, what each of the kernels has there.
  std::vector<SmallVector<int64_t>> starts;
  SmallVector<AffineExpr> exprs; ///< by place; null: the same in all
  std::vector<SmallVector<int64_t>> arguments;
};

} // namespace

// Of spaced elements, and up to a limit that only launches know, a start
// decides more than where to read.
static SmallVector<Place> placesOf(program::KernelOp kernel) {
  SmallVector<Place> places;
  for (Operation &op : kernel.getBlock()) {
    if (auto slice = dyn_cast<ir::SliceOp>(&op))
      for (auto [dim, start] : llvm::enumerate(slice.getStarts()))
        if (constantOf(slice.getLimits().getResult(dim)) >= 0)
          places.push_back({&op, unsigned(dim), start});
    if (auto pad = dyn_cast<ir::PadOp>(&op))
      for (auto [dim, low] : llvm::enumerate(pad.getLow()))
        if (pad.getInterior()[dim] == 0)
          places.push_back({&op, unsigned(dim), low});
  }
  return places;
}

// A slice ends as many elements earlier.
static void beginAtZero(const Place &place) {
  if (auto pad = dyn_cast<ir::PadOp>(place.op)) {
    SmallVector<int64_t> low(pad.getLow());
    low[place.dim] = 0;
    return pad.setLow(low);
  }
  auto slice = cast<ir::SliceOp>(place.op);
  SmallVector<int64_t> starts(slice.getStarts());
  SmallVector<AffineExpr> limits(slice.getLimits().getResults());
  limits[place.dim] = limits[place.dim] - starts[place.dim];
  starts[place.dim] = 0;
  slice.setStarts(starts);
  slice.setLimits(AffineMap::get(0, slice.getLimits().getNumSymbols(), limits,
                                 slice.getContext()));
}

// The kernel's text but for the places; empty where there is none.
static std::string formOf(program::KernelOp kernel) {
  if (placesOf(kernel).empty())
    return {};
  OwningOpRef<program::KernelOp> form(kernel.clone());
  for (const Place &place : placesOf(*form))
    beginAtZero(place);
  return canonicalText(*form);
}

AlikeKernels::AlikeKernels(ArrayRef<program::KernelOp> alike)
    : kernels(alike), context(kernels.front().getContext()),
      symbols(kernels.front().getNumSymbols()) {
  for (program::KernelOp kernel : kernels)
    for (auto [number, place] : llvm::enumerate(placesOf(kernel))) {
      if (starts.size() <= number)
        starts.emplace_back();
      starts[number].push_back(place.start);
    }
  for (size_t place = 0; place < starts.size(); ++place)
    exprs.push_back(exprOf(place));
}

// Places that are as far apart in all kernels need one argument.
AffineExpr AlikeKernels::exprOf(size_t place) {
  ArrayRef<int64_t> own = starts[place];
  if (llvm::all_equal(own))
    return {};
  for (size_t other = 0; other < place; ++other) {
    int64_t distance = own.front() - starts[other].front();
    auto isAsFar = [&](auto pair) {
      return std::get<0>(pair) - std::get<1>(pair) == distance;
    };
    if (exprs[other] && llvm::all_of(llvm::zip(own, starts[other]), isAsFar))
      return exprs[other] + distance;
  }
  return newArgument(own);
}

// What divides all starts is known in the kernel: loads are aligned by it.
AffineExpr AlikeKernels::newArgument(ArrayRef<int64_t> starts) {
  int64_t least = std::min<int64_t>(0, *llvm::min_element(starts));
  int64_t unit = 0;
  for (int64_t start : starts)
    unit = std::gcd(unit, start - least);
  unsigned symbol = symbols + arguments.size();
  auto &values = arguments.emplace_back();
  for (int64_t start : starts)
    values.push_back((start - least) / unit);
  return getAffineSymbolExpr(symbol, context) * unit + least;
}

static AffineMap withSymbols(AffineMap map, unsigned count) {
  return AffineMap::get(0, count, map.getResults(), map.getContext());
}

static Type withSymbols(Type type, unsigned count) {
  return tensorType(cast<RankedTensorType>(type).getElementType(), dimsOf(type),
                    count);
}

static void setSymbols(program::KernelOp kernel, unsigned count) {
  kernel.setNumSymbols(count);
  for (BlockArgument argument : kernel.getBlock().getArguments())
    argument.setType(withSymbols(argument.getType(), count));
  for (Operation &op : kernel.getBlock()) {
    for (NamedAttribute attr : op.getAttrs())
      if (auto map = dyn_cast<AffineMapAttr>(attr.getValue()))
        op.setAttr(attr.getName(),
                   AffineMapAttr::get(withSymbols(map.getValue(), count)));
    for (Value result : op.getResults())
      result.setType(withSymbols(result.getType(), count));
  }
}

program::KernelOp AlikeKernels::write() {
  OwningOpRef<program::KernelOp> shared(kernels.front().clone());
  unsigned count = symbols + arguments.size();
  setSymbols(*shared, count);
  llvm::MapVector<Operation *, SmallVector<AffineExpr>> offsets;
  for (auto [place, expr] : llvm::zip(placesOf(*shared), exprs)) {
    if (!expr)
      continue;
    beginAtZero(place);
    auto &map = offsets[place.op];
    unsigned rank =
        cast<RankedTensorType>(place.op->getResult(0).getType()).getRank();
    map.resize(rank, getAffineConstantExpr(0, context));
    map[place.dim] = expr;
  }
  for (auto &[op, map] : offsets)
    op->setAttr(offsetsAttr,
                AffineMapAttr::get(AffineMap::get(0, count, map, context)));
  std::string why;
  if (!canEmit(*shared, &why))
    return {};
  shared->setSymName(kernelName(*shared));
  program::KernelOp kernel = shared.release();
  kernels.front()->getBlock()->getOperations().insert(
      kernels.front()->getIterator(), kernel);
  return kernel;
}

SmallVector<AffineExpr> AlikeKernels::argumentsOf(size_t kernel) const {
  SmallVector<AffineExpr> result;
  for (const auto &values : arguments)
    result.push_back(getAffineConstantExpr(values[kernel], context));
  return result;
}

static void launchShared(program::LaunchOp launch, program::KernelOp kernel,
                         ArrayRef<AffineExpr> arguments) {
  AffineMap dims = launch.getDims();
  SmallVector<AffineExpr> all(dims.getResults());
  all.append(arguments.begin(), arguments.end());
  launch.setCalleeAttr(FlatSymbolRefAttr::get(kernel.getSymNameAttr()));
  launch.setDimsAttr(AffineMapAttr::get(
      AffineMap::get(0, dims.getNumSymbols(), all, launch.getContext())));
}

namespace {

struct ShareKernelsPass : impl::ShareKernelsBase<ShareKernelsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<size_t> numbers;
    std::vector<SmallVector<program::KernelOp>> forms;
    for (auto kernel : module.getOps<program::KernelOp>()) {
      std::string form = formOf(kernel);
      if (form.empty())
        continue;
      auto [number, isNew] = numbers.try_emplace(form, forms.size());
      if (isNew)
        forms.emplace_back();
      forms[number->second].push_back(kernel);
    }
    llvm::DenseMap<StringAttr, SmallVector<program::LaunchOp>> launches;
    module.walk([&](program::LaunchOp launch) {
      launches[launch.getCalleeAttr().getAttr()].push_back(launch);
    });
    for (ArrayRef<program::KernelOp> kernels : forms) {
      if (kernels.size() < fewestAlike)
        continue;
      AlikeKernels alike(kernels);
      program::KernelOp shared = alike.write();
      if (!shared)
        continue;
      for (auto [number, each] : llvm::enumerate(kernels)) {
        program::KernelOp kernel = each;
        for (program::LaunchOp launch : launches[kernel.getSymNameAttr()])
          launchShared(launch, shared, alike.argumentsOf(number));
        kernel.erase();
      }
    }
  }
};

} // namespace

} // namespace sinter::compiler
