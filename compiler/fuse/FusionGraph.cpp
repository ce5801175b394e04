/// The graph that fusion decides over.
#include "compiler/fuse/FusionGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

#include <array>
#include <utility>

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

static SmallVector<Operation *> opsOf(func::FuncOp function) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front().without_terminator())
    ops.push_back(&op);
  return ops;
}

ClassifiedOps::ClassifiedOps(ArrayRef<Operation *> list, bool oneOpPerKernel)
    : ops(list) {
  for (auto [index, op] : llvm::enumerate(ops))
    indices[op] = index;
  core.assign(ops.size(), false);
  returned.assign(ops.size(), false);
  rename.assign(ops.size(), false);
  repeated.assign(ops.size(), false);
  markReturned();
  classify(oneOpPerKernel);
}

FusionGraph::FusionGraph(func::FuncOp function, bool oneOpPerKernel)
    : FusionGraph(ClassifiedOps(opsOf(function), oneOpPerKernel)) {}

FusionGraph::FusionGraph(ClassifiedOps classified)
    : ClassifiedOps(std::move(classified)) {
  sources.resize(ops.size());
  users.resize(ops.size());
  earlier.resize(ops.size());
  later.resize(ops.size());
  connect();
  connectOrder();
  group.resize(ops.size());
  for (unsigned index = 0; index < ops.size(); ++index) {
    group[index] = index;
    groups.push_back(core[index] ? OpSet{index} : OpSet{});
    reach.push_back(index);
    reachBack.push_back(index);
  }
}

int ClassifiedOps::indexOf(Value value) const {
  Operation *op = value.getDefiningOp();
  auto known = op ? indices.find(op) : indices.end();
  return known != indices.end() ? int(known->second) : -1;
}

// A returned reshape that nothing else reads is its operand's buffer.
void ClassifiedOps::markReturned() {
  auto isOutside = [&](Operation *user) { return !contains(user); };
  for (auto [index, op] : llvm::enumerate(ops))
    returned[index] = llvm::any_of(op->getUsers(), isOutside);
  for (unsigned index = ops.size(); index-- > 0;) {
    Operation *op = ops[index];
    auto leaves = [&](Operation *user) {
      return isOutside(user) || rename[indices.lookup(user)];
    };
    if (!isReshape(op) || !returned[index] ||
        !llvm::all_of(op->getUsers(), leaves))
      continue;
    rename[index] = true;
    if (int operand = indexOf(op->getOperand(0)); operand >= 0)
      returned[operand] = true;
  }
}

// Code of users reads what lies in memory.
bool ClassifiedOps::isReadByOpaque(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return contains(user) && (kindOf(user) == PatternKind::opaque ||
                              (isReshape(user) && isReadByOpaque(user)));
  });
}

// Whether the value has to be in memory besides what the program returns.
bool ClassifiedOps::isKept(unsigned index) const {
  return ops[index]->hasAttr(storedAttr) ||
         (!isReshape(ops[index]) && isReadByOpaque(ops[index]));
}

void ClassifiedOps::classify(bool oneOpPerKernel) {
  SmallVector<bool> readsCore(ops.size(), false);
  for (unsigned index = 0; index < ops.size(); ++index) {
    for (Value operand : ops[index]->getOperands())
      if (int source = indexOf(operand); source >= 0)
        readsCore[index] |= isRead(source) || readsCore[source];
    if (rename[index])
      continue;
    PatternKind kind = kindOf(ops[index]);
    // Arithmetic on single numbers that inputs and sources alone decide.
    bool freeNumber = kind == PatternKind::pointwise && !readsCore[index] &&
                      isNumber(ops[index]->getResult(0));
    bool inlined =
        kind == PatternKind::view || kind == PatternKind::source || freeNumber;
    bool kept = oneOpPerKernel || isKept(index);
    core[index] = !inlined || returned[index] || kept;
    repeated[index] = freeNumber && returned[index] && !kept;
  }
}

OpSet ClassifiedOps::body(const OpSet &coreOps) const {
  llvm::SmallDenseSet<unsigned> seen(coreOps.begin(), coreOps.end());
  OpSet all(coreOps), pending(coreOps);
  while (!pending.empty()) {
    Operation *op = ops[pending.pop_back_val()];
    for (Value operand : op->getOperands()) {
      int index = indexOf(operand);
      if (index < 0 || isRead(index) || !seen.insert(index).second)
        continue;
      all.push_back(index);
      pending.push_back(index);
    }
  }
  llvm::sort(all);
  return all;
}

SmallVector<Value> ClassifiedOps::inputs(const OpSet &body) const {
  llvm::SmallDenseSet<unsigned> inside(body.begin(), body.end());
  llvm::SmallSetVector<Value, 8> result;
  for (unsigned index : body)
    for (Value operand : ops[index]->getOperands())
      if (int source = indexOf(operand); source < 0 || !inside.contains(source))
        result.insert(operand);
  return result.takeVector();
}

void FusionGraph::connect() {
  // The core ops behind an inlined op's value.
  SmallVector<llvm::SmallSetVector<unsigned, 4>> behind(ops.size());
  for (unsigned index = 0; index < ops.size(); ++index) {
    llvm::SmallSetVector<unsigned, 4> &all = behind[index];
    for (Value operand : ops[index]->getOperands())
      if (int source = indexOf(operand); source >= 0) {
        if (isRead(source))
          all.insert(source);
        else
          all.insert_range(behind[source]);
      }
    if (!core[index])
      continue;
    for (unsigned source : all) {
      sources[index].push_back(source);
      users[source].push_back(index);
    }
  }
}

void FusionGraph::addEarlier(unsigned user, unsigned op) {
  if (user == op || llvm::is_contained(earlier[user], op))
    return;
  earlier[user].push_back(op);
  later[op].push_back(user);
}

// An inlined op hands on what it comes after to those that read it.
void FusionGraph::connectOrder() {
  llvm::DenseMap<int64_t, OpSet> numbered;
  for (unsigned index = 0; index < ops.size(); ++index)
    if (auto number = ops[index]->getAttrOfType<IntegerAttr>(orderAttr))
      numbered[number.getInt()].push_back(index);
  if (numbered.empty())
    return;
  SmallVector<llvm::SmallSetVector<unsigned, 4>> behind(ops.size());
  for (unsigned index = 0; index < ops.size(); ++index) {
    for (Value operand : ops[index]->getOperands())
      if (int source = indexOf(operand); source >= 0 && !isRead(source))
        behind[index].insert_range(behind[source]);
    if (auto after = ops[index]->getAttrOfType<DenseI64ArrayAttr>(afterAttr))
      for (int64_t number : after.asArrayRef())
        behind[index].insert_range(numbered.lookup(number));
    if (core[index])
      for (unsigned before : behind[index])
        if (core[before] && before < index)
          addEarlier(index, before);
  }
}

OpSet FusionGraph::outputs(const OpSet &coreOps) const {
  llvm::SmallDenseSet<unsigned> inside(coreOps.begin(), coreOps.end());
  OpSet result;
  for (unsigned index : coreOps)
    if (returned[index] || llvm::any_of(users[index], [&](unsigned user) {
          return !inside.contains(user);
        }))
      result.push_back(index);
  return result;
}

OpSet FusionGraph::united(unsigned a, unsigned b) const {
  OpSet result(groups[a]);
  result.append(groups[b]);
  llvm::sort(result);
  return result;
}

// No path that begins after the answer comes back to `last` or before: ops are
// in order, and every group that reaches back over it was followed.
unsigned FusionGraph::lastOnPathsTo(unsigned last) const {
  while (reach[last] > last)
    last = reach[last];
  return last;
}

// The same backward: no path that ends before the answer began at `first` or
// after it.
unsigned FusionGraph::firstOnPathsFrom(unsigned first) const {
  while (reachBack[first] < first)
    first = reachBack[first];
  return first;
}

/// Follows the edges from two groups, forward or backward, a group at a time,
/// until one of the two is met again.
class FusionGraph::PathSearch {
public:
  using Lists = llvm::SmallVector<llvm::SmallVector<unsigned>>;

  /// `mayLead` says of a group whether a path through it can come back.
  PathSearch(const FusionGraph &graph, unsigned a, unsigned b,
             std::array<const Lists *, 2> edges,
             llvm::function_ref<bool(const OpSet &)> mayLead)
      : graph(graph), a(a), b(b), edges(edges), mayLead(mayLead),
        seen(graph.groups.size()) {
    follow(a);
    follow(b);
  }

  bool isDone() const { return pending.empty(); }
  uint64_t numFollowed() const { return followed; }
  /// Whether the next group leads back to one of the two.
  bool step() { return follow(pending.pop_back_val()); }

private:
  bool follow(unsigned from) {
    for (unsigned index : graph.groups[from])
      for (const Lists *list : edges)
        for (unsigned op : (*list)[index])
          if (meets(from, graph.group[op]))
            return true;
    return false;
  }

  bool meets(unsigned from, unsigned next) {
    ++followed;
    if (next == a || next == b)
      return from != a && from != b;
    const OpSet &members = graph.groups[next];
    if (!members.empty() && !seen.test(next) && mayLead(members)) {
      seen.set(next);
      pending.push_back(next);
    }
    return false;
  }

  const FusionGraph &graph;
  unsigned a, b;
  std::array<const Lists *, 2> edges;
  llvm::function_ref<bool(const OpSet &)> mayLead;
  llvm::SmallBitVector seen;
  SmallVector<unsigned> pending;
  uint64_t followed = 0;
};

// A path from one group to the other through a third. It is looked for from
// both ends, where fewer edges were followed so far: what the forward pass
// keeps for the backward pass has few readers and most of the step before
// it, an update the other way round.
bool FusionGraph::wouldCycle(unsigned a, unsigned b) const {
  // What comes after the one without reading it is no part of the other.
  auto comesAfter = [&](unsigned first, unsigned second) {
    return llvm::any_of(groups[first], [&](unsigned index) {
      return llvm::any_of(later[index],
                          [&](unsigned op) { return group[op] == second; });
    });
  };
  if (comesAfter(a, b) || comesAfter(b, a))
    return true;
  unsigned last = lastOnPathsTo(std::max(groups[a].back(), groups[b].back()));
  unsigned first =
      firstOnPathsFrom(std::min(groups[a].front(), groups[b].front()));
  auto beginsInside = [=](const OpSet &group) { return group.front() <= last; };
  auto endsInside = [=](const OpSet &group) { return group.back() >= first; };
  PathSearch down(*this, a, b, {&users, &later}, beginsInside);
  PathSearch up(*this, a, b, {&sources, &earlier}, endsInside);
  bool found = false;
  while (!found && !down.isDone() && !up.isDone())
    found = (down.numFollowed() < up.numFollowed() ? down : up).step();
  followed += down.numFollowed() + up.numFollowed();
  return found;
}

void FusionGraph::merge(unsigned a, unsigned b) {
  groups[a] = united(a, b);
  groups[b].clear();
  for (unsigned index : groups[a])
    group[index] = a;
  unsigned back = groups[a].back();
  for (unsigned at = groups[a].front(); at < back && reach[at] < back; ++at)
    reach[at] = back;
  unsigned front = groups[a].front();
  for (unsigned at = back; at > front && reachBack[at] > front; --at)
    reachBack[at] = front;
}

void FusionGraph::split(unsigned which) {
  OpSet all = std::move(groups[which]);
  groups[which].clear();
  for (unsigned index : all) {
    group[index] = index;
    groups[index] = {index};
  }
}

void FusionGraph::addSource(unsigned user, unsigned source) {
  if (repeated[source]) {
    for (unsigned further : sources[source])
      addSource(user, further);
  } else if (!llvm::is_contained(sources[user], source)) {
    sources[user].push_back(source);
    users[source].push_back(user);
  }
}

void FusionGraph::repeat(unsigned index) {
  repeated[index] = true;
  SmallVector<unsigned> own;
  for (unsigned user : std::exchange(users[index], {})) {
    if (group[user] == group[index]) {
      own.push_back(user);
      continue;
    }
    llvm::erase(sources[user], index);
    for (unsigned source : sources[index])
      addSource(user, source);
    for (unsigned before : earlier[index])
      addEarlier(user, before);
  }
  users[index] = std::move(own);
  for (unsigned user : later[index])
    for (unsigned source : sources[index])
      addEarlier(user, source);
  // Where nobody reads a value any more there is no kernel.
  OpSet &members = groups[group[index]];
  if (!outputs(members).empty())
    return;
  for (unsigned member : members)
    core[member] = false;
  members.clear();
}

SmallVector<unsigned> FusionGraph::executionOrder() const {
  SmallVector<unsigned> order;
  llvm::SmallBitVector done(groups.size());
  // Depth first over producers, groups in the order of their first op.
  SmallVector<std::pair<unsigned, bool>> stack;
  auto visit = [&](unsigned start) {
    stack.push_back({start, false});
    while (!stack.empty()) {
      auto [which, producersDone] = stack.pop_back_val();
      if (done.test(which))
        continue;
      if (producersDone) {
        done.set(which);
        order.push_back(which);
        continue;
      }
      stack.push_back({which, true});
      for (unsigned index : llvm::reverse(groups[which]))
        for (auto *list : {&sources[index], &earlier[index]})
          for (unsigned source : llvm::reverse(*list))
            if (core[source] && group[source] != which &&
                !done.test(group[source]))
              stack.push_back({group[source], false});
    }
  };
  for (unsigned index = 0; index < ops.size(); ++index)
    if (core[index])
      visit(group[index]);
  return order;
}

} // namespace sinter::compiler
