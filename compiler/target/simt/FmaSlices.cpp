/// FmaSlices: the fastest by the model of what layouts cost.
#include "compiler/target/simt/FmaSlices.h"

#include "compiler/target/ProductTiles.h"
#include "compiler/target/SizeClasses.h"

#include <map>

using namespace mlir;

namespace sinter::compiler {
namespace {

using Names = SizeClasses::Names;

// More slices take more threads and memory: there are as few as come so close
// to the fastest.
constexpr double margin = 1.02;

int64_t slicesAt(const FmaSizes &sizes, ArrayRef<const FmaLayout *> layouts,
                 const MachineModel &usual) {
  std::map<int64_t, double> cycles;
  double best = std::numeric_limits<double>::infinity();
  for (const FmaLayout *layout : layouts) {
    double own = cyclesOf(sizes, *layout, usual);
    auto [at, isFirst] = cycles.try_emplace(layout->slices, own);
    at->second = std::min(at->second, own);
    best = std::min(best, own);
  }
  for (auto [slices, fastest] : cycles)
    if (fastest <= margin * best)
      return slices;
  llvm_unreachable("the best is close to itself");
}

/// Classes of all sizes of a product.
class Classes {
public:
  /// Of each size that is classified.
  using Class = SmallVector<int64_t>;

  explicit Classes(const BlockUnit::Product &product)
      : product(product), context(product.depth.getContext()) {}
  virtual ~Classes() = default;

  /// What slices are chosen for.
  virtual FmaSizes sizesOf(const Class &at) const = 0;
  /// The same with what is known of the product.
  virtual FmaSizes knownSizesOf(const Class &at) const = 0;

  void forEach(llvm::function_ref<void(const Class &)> visit) const {
    Class at;
    visitFrom(at, visit);
  }

  /// 1 in the classes of which `isIn` is true, 0 in others.
  AffineExpr holds(llvm::function_ref<bool(const Class &)> isIn) const {
    Class at;
    return holdsFrom(at, isIn);
  }

protected:
  // A single part has all of k.
  AffineExpr depthOfPart() const {
    if (!product.parts)
      return product.depth;
    AffineExpr isOne =
        getAffineConstantExpr(1, context).floorDiv(product.parts);
    return product.depthOfPart + isOne * (product.depth - product.depthOfPart);
  }
  AffineExpr parts() const {
    return product.parts ? product.parts : getAffineConstantExpr(1, context);
  }

  void classify(AffineExpr size, const Names &names, int64_t least,
                int64_t most) {
    axes.emplace_back(size, names, least, most);
  }
  void classify(AffineExpr size, const Names &names) {
    classify(size, names, leastOf(size), names.last);
  }
  void classifyDepth() {
    classify(depthOfPart(), {8, 4096, /*digits=*/2, /*areAbove=*/false});
  }

  const BlockUnit::Product &product;
  MLIRContext *context;

private:
  void visitFrom(Class &at,
                 llvm::function_ref<void(const Class &)> visit) const {
    if (at.size() == axes.size())
      return visit(at);
    for (int64_t name : axes[at.size()].all()) {
      at.push_back(name);
      visitFrom(at, visit);
      at.pop_back();
    }
  }

  AffineExpr holdsFrom(Class &at,
                       llvm::function_ref<bool(const Class &)> isIn) const {
    if (at.size() == axes.size())
      return getAffineConstantExpr(isIn(at), context);
    return axes[at.size()].valueOf([&](int64_t name) {
      at.push_back(name);
      AffineExpr value = holdsFrom(at, isIn);
      at.pop_back();
      return value;
    });
  }

  SmallVector<SizeClasses, 4> axes;
};

/// Of a product of matrices, of which one size or two may be unknown.
class ClassesOfMatrices final : public Classes {
public:
  explicit ClassesOfMatrices(const BlockUnit::Product &product)
      : Classes(product) {
    classifyDepth();
    constexpr Names ofParts = {1, 1024, /*digits=*/2, /*areAbove=*/false};
    classify(parts(), ofParts, 1,
             product.mostParts < 0 ? ofParts.last : product.mostParts);
    classify(product.sizes.columns, {8, 4096, /*digits=*/4, /*areAbove=*/true});
    classify(product.sizes.rows,
             {16, 1 << 16, /*digits=*/4, /*areAbove=*/true});
  }

  FmaSizes sizesOf(const Class &at) const override {
    return {at[3], at[2], at[1], at[0]};
  }

  FmaSizes knownSizesOf(const Class &at) const override {
    return {constantOr(product.sizes.rows, at[3]),
            constantOr(product.sizes.columns, at[2]),
            constantOr(parts(), at[1]), constantOr(depthOfPart(), at[0])};
  }
};

/// Of batches of matrices, of which all sizes may be unknown: their number of
/// tiles, about, is all that counts.
class ClassesOfBatches final : public Classes {
public:
  explicit ClassesOfBatches(const BlockUnit::Product &product)
      : Classes(product) {
    classifyDepth();
    const BlockUnit::Product::Sizes &sizes = product.sizes;
    auto least = [](AffineExpr size) { return tilesAlong(leastOf(size)); };
    Names names = {1, 1 << 12, /*digits=*/2, /*areAbove=*/true};
    classify(sizes.batches * parts() * sizes.rows.ceilDiv(tile) *
                 sizes.columns.ceilDiv(tile),
             names,
             leastOf(sizes.batches) * least(sizes.rows) * least(sizes.columns),
             names.last);
  }

  FmaSizes sizesOf(const Class &at) const override {
    return {at[1] * tile, tile, 1, at[0]};
  }

  // What two unknown sizes have in common is open: one of them is as usual.
  FmaSizes knownSizesOf(const Class &at) const override {
    constexpr int64_t usual = 128;
    const BlockUnit::Product::Sizes &sizes = product.sizes;
    int64_t rows = constantOr(sizes.rows, -1);
    int64_t columns = constantOr(sizes.columns, usual);
    int64_t batches = constantOr(sizes.batches * parts(), -1);
    auto share = [&](int64_t by) {
      return int64_t(llvm::divideCeil(at[1], std::max<int64_t>(by, 1)));
    };
    if (rows < 0)
      rows = batches < 0 ? usual : tile * share(batches * tilesAlong(columns));
    if (batches < 0)
      batches = share(tilesAlong(rows) * tilesAlong(columns));
    return {rows, columns, batches, constantOr(depthOfPart(), at[0])};
  }

private:
  static constexpr int64_t tile = 32;
  static int64_t tilesAlong(int64_t size) {
    return int64_t(llvm::divideCeil(size, tile));
  }
};

SmallVector<FmaSlices> slicesFor(const Classes &classes,
                                 ArrayRef<const FmaLayout *> layouts,
                                 const MachineModel &usual) {
  std::map<Classes::Class, int64_t> slices;
  SmallVector<FmaSlices> ranges;
  classes.forEach([&](const Classes::Class &each) {
    int64_t own = slicesAt(classes.sizesOf(each), layouts, usual);
    slices[each] = own;
    auto *range = llvm::find_if(
        ranges, [&](const FmaSlices &known) { return known.slices == own; });
    if (range == ranges.end()) {
      ranges.push_back({own, {}, {}});
      range = &ranges.back();
    }
    range->sizes.push_back(classes.knownSizesOf(each));
  });
  if (ranges.size() > 1)
    for (FmaSlices &range : ranges)
      range.holds = classes.holds([&](const Classes::Class &each) {
        return slices.at(each) == range.slices;
      });
  return ranges;
}

} // namespace

SmallVector<FmaSlices> slicesFor(const BlockUnit::Product &product,
                                 ArrayRef<const FmaLayout *> layouts,
                                 const MachineModel &usual) {
  if (product.isBatched)
    return slicesFor(ClassesOfBatches(product), layouts, usual);
  return slicesFor(ClassesOfMatrices(product), layouts, usual);
}

} // namespace sinter::compiler
