/// What fusion decides over: the ops of `main`, which of them are values of
/// their own, and the groups formed so far.
#pragma once

#include "compiler/fuse/OpCosts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter::compiler {

/// Marks an op whose value is written to memory though others of its kind are
/// inlined: those that read it go over it again and again, or it is too much
/// for a kernel that does something else, too.
inline constexpr const char *storedAttr = "sinter.stored";

/// Marks a stored view that no kernel has beside those who read it: they would
/// read across memory what it turns.
inline constexpr const char *turnedAttr = "sinter.turned";

/// The number of an op that others come after without reading it, and on these
/// the numbers of the ops that they come after.
inline constexpr const char *orderAttr = "sinter.order";
inline constexpr const char *afterAttr = "sinter.after";

/// Indices of ops in block order, ascending.
using OpSet = llvm::SmallVector<unsigned>;

/// The ops of a function, or of a part of it. An op is either **core** (its
/// value is computed by one kernel) or **inlined**: views, sources, and
/// arithmetic on single numbers, that are not to be stored, cost nothing and
/// are repeated inside each kernel that reads them. Such a number that is
/// returned is both: one kernel stores it, those that read it compute it again.
class ClassifiedOps {
public:
  /// Of these ops alone, in the order of their block. What others read of them
  /// counts as returned. With `oneOpPerKernel` every op is core.
  ClassifiedOps(llvm::ArrayRef<mlir::Operation *> ops, bool oneOpPerKernel);

  unsigned size() const { return ops.size(); }
  mlir::Operation *op(unsigned index) const { return ops[index]; }
  bool contains(mlir::Operation *op) const { return indices.contains(op); }
  /// Index of the op that makes `value`; -1 for what comes from outside.
  int indexOf(mlir::Value value) const;
  bool isCore(unsigned index) const { return core[index]; }
  /// Whether the value is read outside of the graph, as it is or reshaped.
  bool isReturned(unsigned index) const { return returned[index]; }
  /// A reshape between kernels: the same buffer under another type.
  bool isRename(unsigned index) const { return rename[index]; }
  bool isRepeated(unsigned index) const { return repeated[index]; }
  /// Whether kernels that read the value read it from memory.
  bool isRead(unsigned index) const { return core[index] && !repeated[index]; }
  /// Has an inlined value written to memory, where all find it from now on.
  void store(unsigned index) {
    core[index] = true;
    repeated[index] = false;
  }

  /// Everything a kernel of these core ops holds: the ops and what they inline.
  OpSet body(const OpSet &coreOps) const;
  /// The values that the body reads from outside, in order of first use.
  llvm::SmallVector<mlir::Value> inputs(const OpSet &body) const;

protected:
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> indices;
  llvm::SmallVector<bool> core, returned, rename;
  /// Core ops that kernels which do not store them compute again.
  llvm::SmallVector<bool> repeated;

private:
  void classify(bool oneOpPerKernel);
  void markReturned();
  bool isKept(unsigned index) const;
  bool isReadByOpaque(mlir::Operation *op) const;
};

/// The same as a graph of core ops, in groups. A core op may be made to be
/// repeated, too.
class FusionGraph : public ClassifiedOps {
public:
  explicit FusionGraph(ClassifiedOps classified);
  FusionGraph(mlir::func::FuncOp function, bool oneOpPerKernel);

  /// Core ops whose values a core op reads, and that read a core op's value,
  /// directly or through inlined ops.
  llvm::ArrayRef<unsigned> producers(unsigned index) const {
    return sources[index];
  }
  llvm::ArrayRef<unsigned> consumers(unsigned index) const {
    return users[index];
  }
  /// Whether an op comes after this one without reading it.
  bool isAwaited(unsigned index) const { return !later[index].empty(); }

  /// The core ops whose values someone else reads.
  OpSet outputs(const OpSet &coreOps) const;

  /// Groups: disjoint sets of core ops, one kernel each.
  unsigned groupOf(unsigned index) const { return group[index]; }
  const OpSet &members(unsigned group) const { return groups[group]; }
  unsigned numGroups() const { return groups.size(); }
  OpSet united(unsigned a, unsigned b) const;
  /// Whether one kernel for both would have to run before and after another.
  bool wouldCycle(unsigned a, unsigned b) const;
  /// The edges that `wouldCycle` followed so far: what the question costs.
  uint64_t numFollowed() const { return followed; }
  /// Moves all of b into a.
  void merge(unsigned a, unsigned b);
  /// Makes every member of the group a group of its own.
  void split(unsigned group);
  /// From now on kernels other than its own compute the value again; it must
  /// not be returned. A kernel that gives nothing else is no more.
  void repeat(unsigned index);
  /// Groups that have members, in an order in which they can run.
  llvm::SmallVector<unsigned> executionOrder() const;

private:
  using ClassifiedOps::store; // only before they are a graph
  void connect();
  void connectOrder();
  void addSource(unsigned user, unsigned source);
  void addEarlier(unsigned user, unsigned op);
  class PathSearch;
  unsigned lastOnPathsTo(unsigned last) const;
  unsigned firstOnPathsFrom(unsigned first) const;

  llvm::SmallVector<llvm::SmallVector<unsigned>> sources, users;
  /// Core ops that a core op comes before or after, whose values it need not
  /// read.
  llvm::SmallVector<llvm::SmallVector<unsigned>> earlier, later;
  llvm::SmallVector<unsigned> group;
  llvm::SmallVector<OpSet> groups;
  /// By op: no group that begins here or before ends after this op, and none
  /// that ends here or later begins before that one. Splitting a group leaves
  /// them further than they need be.
  llvm::SmallVector<unsigned> reach, reachBack;
  mutable uint64_t followed = 0;
};

} // namespace sinter::compiler
