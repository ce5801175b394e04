/// Finds the first difference between two graphs of one flush line, and warns
/// of lines that make one program after another.
#include "frontend/MissReasons.h"

#include "runtime/graph/Builders.h"
#include "runtime/graph/ShapeChecks.h"
#include "runtime/support/Fork.h"
#include "runtime/support/Sites.h"
#include "sinter/runtime/Log.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace sinter::detail {

using graph::Graph;
using graph::NodeRef;
using graph::Value;

/// A node whose shape rule needed a symbolic dim to be a certain number: that
/// number, written by the user, made the program special.
static const NodeRef *findFixingNode(const graph::Slice &slice) {
  for (const NodeRef &node : slice.nodes) {
    if (!node->hasGuards() || node->operands().empty())
      continue;
    graph::GuardSink sink;
    {
      graph::GuardScope scope(sink);
      if (!graph::buildOp(node->op(), node->operands(), node->attrs(),
                          node->device()))
        continue;
    }
    for (const auto &[lhs, rhs] : sink.equalities)
      if (lhs.isConstant() != rhs.isConstant())
        return &node;
  }
  return nullptr;
}

static bool haveSameDims(const Graph &a, const Value &x, const Graph &b,
                         const Value &y) {
  if (x.dims.size() != y.dims.size())
    return false;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    const Expr &left = a.exprs[x.dims[i]];
    const Expr &right = b.exprs[y.dims[i]];
    if (left.op != right.op || left.value != right.value)
      return false;
  }
  return true;
}

static std::string opName(graph::OpId op) {
  return op == graph::leafOp ? "input" : std::string(graph::info(op).name);
}

namespace {
struct Difference {
  MissKind kind;
  std::string what;
};
} // namespace

/// What is different about value `i`; no text when nothing is.
static Difference difference(const Graph &now, const Graph &before, size_t i) {
  const Value &value = now.values[i];
  const Value &old = before.values[i];
  if (value.op != old.op)
    return {MissKind::ops,
            fmt::format("{} where {} was", opName(value.op), opName(old.op))};
  if (value.dtype != old.dtype)
    return {MissKind::dtype,
            fmt::format("{} is {}, it was {}", opName(value.op),
                        name(value.dtype), name(old.dtype))};
  if (value.operands != old.operands)
    return {MissKind::ops,
            fmt::format("{} of other operands", opName(value.op))};
  if (!haveSameDims(now, value, before, old))
    return {value.op == graph::leafOp ? MissKind::inputShape : MissKind::shape,
            fmt::format("{} has another shape", opName(value.op))};
  if (value.attrs != old.attrs)
    return {MissKind::attributes,
            fmt::format("{} has other attributes", opName(value.op))};
  return {};
}

static MissReason compare(const graph::Slice &slice, const Graph &before) {
  const Graph &now = slice.graph;
  auto siteOf = [&](size_t i) { return slice.nodes[i]->site(); };
  size_t common = std::min(now.values.size(), before.values.size());
  for (size_t i = 0; i < common; ++i) {
    Difference found = difference(now, before, i);
    if (found.what.empty())
      continue;
    bool isOfSizes = found.kind == MissKind::inputShape ||
                     found.kind == MissKind::shape ||
                     found.kind == MissKind::attributes;
    if (const NodeRef *fixing = isOfSizes ? findFixingNode(slice) : nullptr)
      return {MissKind::fixedDim,
              fmt::format("{} fixes a symbolic dim to a number",
                          opName((*fixing)->op())),
              (*fixing)->site()};
    return {found.kind, std::move(found.what), siteOf(i)};
  }
  if (now.values.size() > common)
    return {MissKind::ops,
            fmt::format("{} was not recorded before",
                        opName(now.values[common].op)),
            siteOf(common)};
  if (before.values.size() > common)
    return {MissKind::ops, "fewer ops than before"};
  if (now.outputs != before.outputs)
    return {MissKind::outputs, "other outputs"};
  return {MissKind::other, "other guards or another target"};
}

/// By value: what kind of input it is.
static std::vector<graph::InputKind> inputKinds(const Graph &graph) {
  std::vector<graph::InputKind> kinds(graph.values.size(),
                                      graph::InputKind::data);
  for (const graph::Input &input : graph.inputs)
    kinds[input.value] = input.kind;
  return kinds;
}

namespace {
/// Goes through two graphs at once, past numbers that only the first takes as
/// inputs.
class Settling {
public:
  Settling(const Graph &now, const Graph &before)
      : now(now), before(before), kinds(inputKinds(now)),
        oldKinds(inputKinds(before)), places(now.values.size(), none),
        hasNewSymbols(now.numSymbols > before.numSymbols) {}

  /// Whether the two are one but for what a line shows at most once or twice: a
  /// number that became an input, dims that became symbolic, other parameters.
  bool holds();

private:
  static constexpr uint32_t none = ~0u;

  bool isNewNumber(uint32_t value) const;
  void passNumber(uint32_t value);
  bool matches(uint32_t value);

  const Graph &now, &before;
  std::vector<graph::InputKind> kinds, oldKinds;
  std::vector<uint32_t> places; ///< by value of now: which one before
  uint32_t next = 0;            ///< value of before
  bool hasNewSymbols;
  bool hasNewNumbers = false;
  bool hasOtherParameters = false;
};
} // namespace

bool Settling::isNewNumber(uint32_t value) const {
  bool wasNumber = next < before.values.size() &&
                   before.values[next].op == graph::leafOp &&
                   oldKinds[next] == graph::InputKind::scalar;
  return now.values[value].op == graph::leafOp &&
         kinds[value] == graph::InputKind::scalar && !wasNumber;
}

/// It stands where a constant was, or is spread to that constant's shape, or is
/// an operand that there was not.
void Settling::passNumber(uint32_t value) {
  hasNewNumbers = true;
  const uint32_t spread[] = {value};
  bool isSpread = value + 1 < now.values.size() &&
                  std::ranges::equal(now.values[value + 1].operands, spread);
  bool wasConstant = next < before.values.size() &&
                     before.values[next].op != graph::leafOp &&
                     before.values[next].operands.empty();
  if (wasConstant && !isSpread)
    places[value] = next++;
}

bool Settling::matches(uint32_t number) {
  if (next == before.values.size())
    return false;
  const Value &value = now.values[number], &old = before.values[next];
  places[number] = next++;
  bool takesNumber = false;
  std::vector<uint32_t> operands;
  for (uint32_t operand : value.operands) {
    takesNumber |= places[operand] == none;
    if (places[operand] != none)
      operands.push_back(places[operand]);
  }
  if (!std::ranges::equal(operands, old.operands) || value.dtype != old.dtype)
    return false;
  if (takesNumber)
    return true;
  if (value.op != old.op)
    return false;
  bool isSame = haveSameDims(now, value, before, old);
  if (value.op == graph::leafOp)
    hasOtherParameters |=
        !isSame && kinds[number] == graph::InputKind::parameter;
  else
    isSame &= value.attrs == old.attrs;
  return isSame || hasNewSymbols || hasOtherParameters;
}

bool Settling::holds() {
  for (uint32_t value = 0; value < now.values.size(); ++value)
    if (isNewNumber(value))
      passNumber(value);
    else if (!matches(value))
      return false;
  return next == before.values.size() &&
         (hasNewNumbers || hasNewSymbols || hasOtherParameters);
}

//===- What lines did -----------------------------------------------------===//

namespace {
/// Of one line's flushes, those of what was recorded by the same lines: a
/// function that many call reads many things.
struct Asked {
  SiteId flush;
  uint64_t recordedBy; ///< a hash of the lines
  auto operator<=>(const Asked &) const = default;
};

struct Lines {
  ForkMutex mutex;
  std::map<Asked, Graph> lastGraphs;
  std::map<SiteId, Asked> lastAsked; ///< by the flush's line
  std::map<Asked, unsigned> compiles;
  std::set<SiteId> warned;
};
} // namespace

static Lines &lines() {
  static Lines *all = new Lines;
  return *all;
}

/// Which lines recorded the ops, each once.
static uint64_t hashOfLines(const graph::Slice &slice) {
  std::vector<SiteId> sites;
  for (size_t i = 0; i < slice.nodes.size(); ++i)
    if (slice.graph.values[i].op != graph::leafOp)
      sites.push_back(slice.nodes[i]->site());
  std::ranges::sort(sites);
  auto same = std::ranges::unique(sites);
  sites.erase(same.begin(), same.end());
  return XXH3_64bits(sites.data(), sites.size() * sizeof(SiteId));
}

MissReason explainMiss(const graph::Slice &slice, SiteId flushSite) {
  constexpr size_t mostGraphs = 1024;
  Asked asked{flushSite, hashOfLines(slice)};
  Lines &all = lines();
  std::lock_guard lock(all.mutex);
  if (all.lastGraphs.size() >= mostGraphs) {
    all.lastGraphs.clear();
    all.lastAsked.clear();
  }
  auto before = all.lastGraphs.find(asked);
  bool isOfSameLines = before != all.lastGraphs.end();
  if (auto last = all.lastAsked.find(flushSite);
      !isOfSameLines && last != all.lastAsked.end())
    before = all.lastGraphs.find(last->second);
  MissReason reason{MissKind::first, "first program of this line"};
  if (before != all.lastGraphs.end()) {
    reason = compare(slice, before->second);
    reason.isOnce =
        isOfSameLines && Settling(slice.graph, before->second).holds();
  }
  reason.recordedBy = asked.recordedBy;
  all.lastGraphs.insert_or_assign(asked, slice.graph);
  all.lastAsked.insert_or_assign(flushSite, asked);
  return reason;
}

/// What the user may do.
static std::string_view wayOut(MissKind kind) {
  switch (kind) {
  case MissKind::first:
  case MissKind::ops:
    return "record the same ops each time: a loop of varying length is a "
           "sinter::scan, and what stays the same can be read on its own";
  case MissKind::dtype:
    return "bring what comes in to one dtype";
  case MissKind::inputShape:
    return "say which axis varies, x.dynamic(axis), or pad to few sizes";
  case MissKind::shape:
    return "take sizes from x.dim(i), and say which axis varies, "
           "x.dynamic(axis)";
  case MissKind::attributes:
    return "pass what varies as a tensor: the start of a slice, or a number as "
           "sinter::scalar(value)";
  case MissKind::fixedDim:
    return "take the size from x.dim(i), or write -1";
  case MissKind::outputs:
    return "hold and ask for the same tensors each time";
  case MissKind::other:
    return "sizes that were equal, or the numerics mode, change";
  }
  return "";
}

void noteCompile(const MissReason &reason, SiteId flushSite) {
  constexpr unsigned warnsAt = 3;
  {
    Lines &all = lines();
    std::lock_guard lock(all.mutex);
    unsigned count = ++all.compiles[{flushSite, reason.recordedBy}];
    if (count < warnsAt || reason.isOnce || flushSite == 0 ||
        !all.warned.insert(flushSite).second)
      return;
  }
  std::string at = reason.site ? " (" + siteString(reason.site) + ")" : "";
  logWarning(fmt::format("{}: one program after another is compiled for what "
                         "is read here: {}{}. {}; stats().misses lists them",
                         siteString(flushSite), reason.what, at,
                         wayOut(reason.kind)));
}

} // namespace sinter::detail
