/// Cell: the identity of one piece of state (a parameter, an optimizer moment,
/// a running statistic) and the value it has now.
#pragma once

#include <sinter/runtime/Node.h>
#include <sinter/runtime/Result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace sinter::runtime {

class Cell;
using CellRef = std::shared_ptr<Cell>;

/// Records the node that computes an initial value. Called once, by the first
/// flush that needs the value, in a separate program with other initializers.
using Initializer = std::function<Result<graph::NodeRef>()>;

/// An initial value that several cells share; made at most once.
class LazyValue {
public:
  explicit LazyValue(Initializer record) : record(std::move(record)) {}
  LazyValue(const LazyValue &) = delete;

private:
  friend class CellTable;
  Initializer record;
  BufferRef value;        ///< once made, for the leaves that still want it
  unsigned numLeaves = 0; ///< lazy leaves that share this; both locked
};

/// What a cell is made from.
struct CellSpec {
  DType dtype = DType::f32;
  Dims dims; ///< constants: state is never promoted to symbolic
  DeviceId device;
  bool requiresGrad = false;
  std::string name; ///< for files and messages
};

/// Thread-safe. Its value is a leaf node that belongs to this cell alone
/// (`leaf()->cellId() == id()`), ready or lazily made; an update replaces it
/// when a flush evaluated the new value. Destroying a cell forgets a pending
/// update.
class Cell : public std::enable_shared_from_this<Cell> {
public:
  /// A cell whose value is made when a flush first needs it.
  static CellRef lazy(CellSpec spec, Initializer initializer);
  /// A cell that holds `value` (dense, of the spec's type).
  static CellRef ready(CellSpec spec, BufferRef value);
  ~Cell();
  Cell(const Cell &) = delete;

  /// A new cell with the same name and value. The buffer, the one-time
  /// initialization and a pending update are shared until either changes.
  CellRef copy() const;

  uint64_t id() const { return cellId; } ///< unique in the process; not 0
  DType dtype() const { return spec.dtype; }
  const Dims &dims() const { return spec.dims; }
  DeviceId device() const { return spec.device; }
  bool requiresGrad() const { return spec.requiresGrad; }
  std::string name() const;
  void setName(std::string name);

  /// The value that the last committed update (or the beginning) gave.
  graph::NodeRef leaf() const;
  /// The same, but empty while an update is pending: asked and answered at
  /// once, so no flush can give the buffer away in between.
  graph::NodeRef settledLeaf() const;
  /// The recorded but not yet evaluated update; empty when there is none.
  graph::NodeRef pending() const;
  /// The line of the pending (or last) update.
  SiteId updateSite() const;
  /// Counts committed updates.
  uint64_t version() const;

  /// Records that the value becomes that of `next` (same dtype, dims and
  /// device), replacing an earlier pending update. A ready node that is no op
  /// takes effect at once.
  Status update(graph::NodeRef next, SiteId site);
  /// Makes `value` the value now; forgets a pending update.
  void assign(BufferRef value, SiteId site);

private:
  friend class CellTable;
  explicit Cell(CellSpec spec);

  CellSpec spec;
  uint64_t cellId = 0;    ///< no cell of the table
  graph::NodeRef current; ///< under the table's lock, as below
  graph::NodeRef next;
  std::shared_ptr<LazyValue> lazyValue; ///< while current is lazy
  SiteId site = 0;
  uint64_t commits = 0;
  bool isListed = false; ///< in the table's list of pending cells
};

/// The process's cells with a pending update, and lazy leaves; what a flush
/// asks. Every function is thread-safe.
class CellTable {
public:
  static CellTable &get();

  /// Live cells with a pending update, in the order of the updates.
  std::vector<CellRef> pendingCells() const;
  bool hasPending() const;
  /// Cells that are made from now on have this id or a higher one.
  uint64_t nextCellId() const;
  /// The cell of that id, or null when it died.
  CellRef find(uint64_t cellId) const;

  /// A leaf for the cell's next value, which it gets by `commit`.
  graph::NodeRef nextLeaf(const Cell &cell) const;
  /// Ends a pending update: `leaf`, which `nextLeaf` made, takes the value of
  /// the pending node and becomes the cell's, if that node still is `next`.
  /// Takes no memory.
  void commit(const CellRef &cell, const graph::NodeRef &next,
              graph::NodeRef leaf);
  /// The same with a leaf made now.
  void commit(const CellRef &cell, const graph::NodeRef &next);
  /// Forgets a pending update: the cell keeps its old value.
  void rollBack(const CellRef &cell, const graph::NodeRef &next);

  /// The one-time initialization behind a lazy leaf that is still pending, or
  /// null when `leaf` is no such leaf.
  std::shared_ptr<LazyValue> lazyValue(const graph::Node *leaf) const;
  /// Whether the cell's first value was made, by it or by one that shares it.
  bool hasValue(const Cell &cell) const;
  /// The one-time initialization that the cell waits for; null when its value
  /// was made, or an update is recorded.
  std::shared_ptr<LazyValue> unmadeValue(const Cell &cell) const;
  /// Its value when made, else empty.
  BufferRef made(const LazyValue &lazy) const;
  /// Records the initial value's node.
  Result<graph::NodeRef> record(LazyValue &lazy) const;
  /// Keeps the value and gives it to `leaf`.
  void provide(const std::shared_ptr<LazyValue> &lazy,
               const graph::NodeRef &leaf, BufferRef value);

private:
  friend class Cell;
  CellTable() = default;
  struct State;
  static State &state();
};

} // namespace sinter::runtime
