/// Finds the first difference between two graphs of one flush line.
#include "frontend/MissReasons.h"

#include "runtime/graph/Builders.h"
#include "runtime/graph/ShapeChecks.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

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

/// What is different about value `i`, or nothing; whether it is sizes only.
static std::string difference(const Graph &now, const Graph &before, size_t i,
                              bool &sizesDiffer) {
  const Value &value = now.values[i];
  const Value &old = before.values[i];
  if (value.op != old.op)
    return fmt::format("{} where {} was", opName(value.op), opName(old.op));
  if (value.dtype != old.dtype)
    return fmt::format("{} is {}, it was {}", opName(value.op),
                       name(value.dtype), name(old.dtype));
  if (value.operands != old.operands)
    return fmt::format("{} of other operands", opName(value.op));
  sizesDiffer = true;
  if (!haveSameDims(now, value, before, old))
    return fmt::format("{} has another shape", opName(value.op));
  if (value.attrs != old.attrs)
    return fmt::format("{} has other attributes", opName(value.op));
  return {};
}

static MissReason compare(const graph::Slice &slice, const Graph &before) {
  const Graph &now = slice.graph;
  auto siteOf = [&](size_t i) { return slice.nodes[i]->site(); };
  size_t common = std::min(now.values.size(), before.values.size());
  for (size_t i = 0; i < common; ++i) {
    bool sizesDiffer = false;
    std::string what = difference(now, before, i, sizesDiffer);
    if (what.empty())
      continue;
    const NodeRef *fixing = sizesDiffer ? findFixingNode(slice) : nullptr;
    if (fixing)
      return {fmt::format("{} fixes a symbolic dim to a number",
                          opName((*fixing)->op())),
              (*fixing)->site()};
    return {std::move(what), siteOf(i)};
  }
  if (now.values.size() > common)
    return {fmt::format("{} was not recorded before",
                        opName(now.values[common].op)),
            siteOf(common)};
  if (before.values.size() > common)
    return {"fewer ops than before", 0};
  if (now.outputs != before.outputs)
    return {"other outputs", 0};
  return {"other guards or another target", 0};
}

MissReason explainMiss(const graph::Slice &slice, SiteId flushSite) {
  static std::mutex *mutex = new std::mutex;
  static auto *lastGraphs = new std::map<SiteId, Graph>;
  std::lock_guard lock(*mutex);
  auto [entry, isFirst] = lastGraphs->try_emplace(flushSite);
  MissReason reason{"first program of this line", 0};
  if (!isFirst)
    reason = compare(slice, entry->second);
  entry->second = slice.graph;
  return reason;
}

} // namespace sinter::detail
