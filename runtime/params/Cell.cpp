/// Cells, their pending updates and their one-time initialization.
#include "sinter/runtime/Cell.h"

#include "runtime/support/Fork.h"

#include <algorithm>
#include <cassert>
#include <list>
#include <unordered_map>

namespace sinter::runtime {

using graph::NodeFactory;
using graph::NodeRef;

/// Everything under one lock: the sections are a few instructions long.
struct CellTable::State {
  struct LazyLeaf {
    NodeRef leaf; ///< kept: a recorded op may outlive the cell
    std::shared_ptr<LazyValue> value;
  };

  ForkMutex mutex;
  uint64_t nextId = 1;
  std::unordered_map<uint64_t, std::weak_ptr<Cell>> cells;
  /// In the order of the updates; among them cells whose update is done, until
  /// the next who asks takes them out.
  std::list<std::weak_ptr<Cell>> pending;
  std::unordered_map<const graph::Node *, LazyLeaf> lazyLeaves;

  void addLazyLeaf(const NodeRef &leaf, std::shared_ptr<LazyValue> value) {
    LazyLeaf &entry = lazyLeaves[leaf.get()];
    ++value->numLeaves;
    entry = {leaf, std::move(value)};
  }
  void removeLazyLeaf(const graph::Node *leaf);
  /// Puts a listed cell behind all others.
  void moveToEnd(const std::weak_ptr<Cell> &cell);
  /// Forgets lazy leaves that nothing can ask for any more.
  void dropUnusedLeaves();
  size_t dropLeavesAt = 1024;
};

// A step updates cells in one order: mostly it is the first.
void CellTable::State::moveToEnd(const std::weak_ptr<Cell> &cell) {
  auto isSame = [&](const std::weak_ptr<Cell> &entry) {
    return !entry.owner_before(cell) && !cell.owner_before(entry);
  };
  auto found = std::ranges::find_if(pending, isSame);
  if (found != pending.end())
    pending.splice(pending.end(), pending, found);
}

void CellTable::State::removeLazyLeaf(const graph::Node *leaf) {
  auto found = lazyLeaves.find(leaf);
  if (found == lazyLeaves.end())
    return;
  // The value is kept only for leaves that still want it: a buffer that two
  // hold cannot be updated in place.
  LazyValue &value = *found->second.value;
  if (--value.numLeaves == 0)
    value.value = BufferRef();
  lazyLeaves.erase(found);
}

void CellTable::State::dropUnusedLeaves() {
  if (lazyLeaves.size() < dropLeavesAt)
    return;
  std::vector<const graph::Node *> unused;
  for (const auto &[leaf, entry] : lazyLeaves)
    if (leaf->useCount() == 1)
      unused.push_back(leaf);
  for (const graph::Node *leaf : unused)
    removeLazyLeaf(leaf);
  dropLeavesAt = std::max<size_t>(1024, lazyLeaves.size() * 2);
}

CellTable::State &CellTable::state() {
  static State *instance = new State; // outlives static parameters
  return *instance;
}

CellTable &CellTable::get() {
  static CellTable table;
  return table;
}

//===- Cell ---------------------------------------------------------------===//

Cell::Cell(CellSpec spec) : spec(std::move(spec)) {}

static NodeRef lazyLeaf(const CellSpec &spec, uint64_t cellId) {
  NodeRef leaf = NodeFactory::lazyLeaf(spec.dtype, spec.dims, spec.device,
                                       spec.requiresGrad);
  NodeFactory::setCell(leaf, cellId);
  return leaf;
}

static NodeRef readyLeaf(const CellSpec &spec, uint64_t cellId,
                         BufferRef value) {
  NodeRef leaf =
      NodeFactory::leaf(graph::InputKind::parameter, spec.dtype, spec.dims,
                        std::move(value), spec.requiresGrad);
  NodeFactory::setCell(leaf, cellId);
  return leaf;
}

CellRef Cell::lazy(CellSpec spec, Initializer initializer) {
  CellRef cell(new Cell(std::move(spec)));
  auto value = std::make_shared<LazyValue>(std::move(initializer));
  CellTable::State &state = CellTable::state();
  std::lock_guard lock(state.mutex);
  state.dropUnusedLeaves();
  cell->cellId = state.nextId++;
  cell->current = lazyLeaf(cell->spec, cell->cellId);
  cell->lazyValue = value;
  state.addLazyLeaf(cell->current, value);
  state.cells[cell->cellId] = cell;
  return cell;
}

CellRef Cell::ready(CellSpec spec, BufferRef value) {
  CellRef cell(new Cell(std::move(spec)));
  CellTable::State &state = CellTable::state();
  std::lock_guard lock(state.mutex);
  cell->cellId = state.nextId++;
  cell->current = readyLeaf(cell->spec, cell->cellId, std::move(value));
  state.cells[cell->cellId] = cell;
  return cell;
}

Cell::~Cell() {
  CellTable::State &state = CellTable::state();
  std::lock_guard lock(state.mutex);
  state.cells.erase(cellId);
  if (isListed)
    std::erase_if(state.pending,
                  [](const auto &entry) { return entry.expired(); });
  // The table's reference and this one: nothing else can ask for the leaf.
  if (current && current->state() == graph::NodeState::pending &&
      current->useCount() == 2)
    state.removeLazyLeaf(current.get());
}

CellRef Cell::copy() const {
  CellRef cell(new Cell(spec));
  CellTable::State &state = CellTable::state();
  std::lock_guard lock(state.mutex);
  cell->cellId = state.nextId++;
  cell->site = site;
  if (current->isReady()) {
    cell->current = readyLeaf(spec, cell->cellId, current->value());
  } else {
    cell->current = lazyLeaf(spec, cell->cellId);
    cell->lazyValue = lazyValue;
    state.addLazyLeaf(cell->current, lazyValue);
  }
  if (next) {
    cell->next = next;
    state.pending.push_back(cell);
    cell->isListed = true;
  }
  state.cells[cell->cellId] = cell;
  return cell;
}

std::string Cell::name() const {
  std::lock_guard lock(CellTable::state().mutex);
  return spec.name;
}

void Cell::setName(std::string name) {
  std::lock_guard lock(CellTable::state().mutex);
  spec.name = std::move(name);
}

NodeRef Cell::leaf() const {
  std::lock_guard lock(CellTable::state().mutex);
  return current;
}

NodeRef Cell::settledLeaf() const {
  std::lock_guard lock(CellTable::state().mutex);
  return next ? NodeRef() : current;
}

NodeRef Cell::pending() const {
  std::lock_guard lock(CellTable::state().mutex);
  return next;
}

SiteId Cell::updateSite() const {
  std::lock_guard lock(CellTable::state().mutex);
  return site;
}

uint64_t Cell::version() const {
  std::lock_guard lock(CellTable::state().mutex);
  return commits;
}

static bool haveSameExtents(std::span<const Dim> a, std::span<const Dim> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Dim x, Dim y) { return x.value == y.value; });
}

Status Cell::update(NodeRef value, SiteId where) {
  if (value->dtype() != spec.dtype ||
      !haveSameExtents(value->dims(), spec.dims) ||
      value->device() != spec.device) {
    ErrorInfo error =
        makeError(ErrorKind::invalid_argument,
                  "update of " + (spec.name.empty() ? "state" : spec.name) +
                      ": types or devices differ: " + typeString(*leaf()) +
                      " on " + toString(spec.device) + " and " +
                      typeString(*value) + " on " + toString(value->device()));
    error.site = where;
    return error;
  }
  if (value->isReady() && value->value()) {
    assign(value->value(), where);
    return {};
  }
  CellTable::State &state = CellTable::state();
  NodeRef replaced; // released after the lock
  std::lock_guard lock(state.mutex);
  if (!isListed)
    state.pending.push_back(weak_from_this());
  else if (!next) // its place is that of an update that is done
    state.moveToEnd(weak_from_this());
  isListed = true;
  replaced = std::exchange(next, std::move(value));
  site = where;
  return {};
}

void Cell::assign(BufferRef value, SiteId where) {
  CellTable::State &state = CellTable::state();
  NodeRef forgotten, replaced = readyLeaf(spec, cellId, std::move(value));
  std::lock_guard lock(state.mutex);
  forgotten = std::exchange(next, NodeRef());
  std::swap(current, replaced);
  lazyValue.reset();
  site = where;
  ++commits;
}

//===- CellTable ----------------------------------------------------------===//

std::vector<CellRef> CellTable::pendingCells() const {
  State &all = state();
  // Perhaps the last references: they are released outside the lock.
  std::vector<CellRef> cells, settled;
  std::lock_guard lock(all.mutex);
  std::erase_if(all.pending, [&](const std::weak_ptr<Cell> &entry) {
    CellRef cell = entry.lock();
    if (!cell)
      return true;
    bool isPending = cell->isListed = bool(cell->next);
    (isPending ? cells : settled).push_back(std::move(cell));
    return !isPending;
  });
  return cells;
}

bool CellTable::hasPending() const {
  State &all = state();
  std::lock_guard lock(all.mutex);
  return !all.pending.empty();
}

uint64_t CellTable::nextCellId() const {
  std::lock_guard lock(state().mutex);
  return state().nextId;
}

CellRef CellTable::find(uint64_t cellId) const {
  State &all = state();
  std::lock_guard lock(all.mutex);
  auto found = all.cells.find(cellId);
  return found == all.cells.end() ? nullptr : found->second.lock();
}

NodeRef CellTable::nextLeaf(const Cell &cell) const {
  return lazyLeaf(cell.spec, cell.cellId);
}

void CellTable::commit(const CellRef &cell, const NodeRef &next, NodeRef leaf) {
  State &all = state();
  NodeRef forgotten;
  std::shared_ptr<LazyValue> made; // both are released after the lock
  std::lock_guard lock(all.mutex);
  if (cell->next != next)
    return;
  leaf->setReady(next->value());
  forgotten = std::exchange(cell->next, NodeRef());
  std::swap(cell->current, leaf);
  made = std::move(cell->lazyValue);
  ++cell->commits;
}

void CellTable::commit(const CellRef &cell, const NodeRef &next) {
  commit(cell, next, nextLeaf(*cell));
}

void CellTable::rollBack(const CellRef &cell, const NodeRef &next) {
  State &all = state();
  NodeRef forgotten;
  std::lock_guard lock(all.mutex);
  if (cell->next == next)
    forgotten = std::exchange(cell->next, NodeRef());
}

std::shared_ptr<LazyValue> CellTable::lazyValue(const graph::Node *leaf) const {
  State &all = state();
  std::lock_guard lock(all.mutex);
  auto found = all.lazyLeaves.find(leaf);
  return found == all.lazyLeaves.end() ? nullptr : found->second.value;
}

bool CellTable::hasValue(const Cell &cell) const {
  std::lock_guard lock(state().mutex);
  return cell.current->isReady() || (cell.lazyValue && cell.lazyValue->value);
}

std::shared_ptr<LazyValue> CellTable::unmadeValue(const Cell &cell) const {
  std::lock_guard lock(state().mutex);
  if (cell.next || cell.current->isReady() || cell.lazyValue->value)
    return nullptr;
  return cell.lazyValue;
}

BufferRef CellTable::made(const LazyValue &lazy) const {
  std::lock_guard lock(state().mutex);
  return lazy.value;
}

Result<NodeRef> CellTable::record(LazyValue &lazy) const {
  return lazy.record();
}

void CellTable::provide(const std::shared_ptr<LazyValue> &lazy,
                        const NodeRef &leaf, BufferRef value) {
  State &all = state();
  std::lock_guard lock(all.mutex);
  lazy->value = value;
  if (leaf->state() == graph::NodeState::pending)
    leaf->setReady(std::move(value));
  all.removeLazyLeaf(leaf.get());
}

} // namespace sinter::runtime
