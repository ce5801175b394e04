/// Reads counts, or leaves them open.
#include "frontend/CountedRows.h"

#include "frontend/Capture.h"
#include "frontend/Recording.h"
#include "frontend/ScanBodies.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Functions.h>
#include <sinter/Shaping.h>

#include <algorithm>

namespace sinter::detail {

bool leavesCountsOpen() {
  const Capture *capture = Capture::current();
  return capture && capture->use() == CaptureUse::file && !recordsScanBody();
}

Tensor countedRows(const Tensor &x, const Tensor &count,
                   const SourceLine &where) {
  if (leavesCountsOpen()) {
    Capture &capture = *Capture::current();
    if (!x.node()->requiresGrad())
      return capture.countedRows(x, count);
    // Gradients flow through what is picked.
    Tensor places = arange(x.dim(0), {DType::i64, x.device()});
    return index_select(x, capture.countedRows(places, count), 0);
  }
  return narrow(x, 0, 0, count.item<int64_t>(where));
}

Tensor Capture::countedRows(const Tensor &value, const Tensor &count) {
  const graph::NodeRef &number = usedForm(count.node());
  auto same = std::ranges::find(counted, number, &CountedRows::count);
  // Few kinds of sizes have these: two that differ are not taken for equal.
  constexpr int64_t example = 97;
  constexpr uint32_t firstAxis = 1u << 17; // beside those of arguments
  Dim rows;
  if (same != counted.end()) {
    rows = same->placeholder->dims()[0];
  } else {
    rows.value = example + 2 * int64_t(numCounts);
    rows.expr =
        dim_exprs::symbol(siteOf(callLine), firstAxis + numCounts, rows.value);
    ++numCounts;
  }
  const graph::NodeRef &from = usedForm(value.node());
  Dims dims(from->dims().begin(), from->dims().end());
  dims[0] = rows;
  counted.push_back({from, number,
                     graph::NodeFactory::lazyLeaf(from->dtype(), dims,
                                                  from->device(), false)});
  return Tensor(counted.back().placeholder);
}

Tensor countOf(uint32_t expr) {
  for (const CountedRows &each : Capture::current()->allCountedRows())
    if (each.placeholder->dims()[0].expr == expr)
      return Tensor(each.count);
  return {};
}

bool isCounted(Dim size) {
  if (size.isConstant() || !leavesCountsOpen())
    return false;
  Expr expr = dim_exprs::get(size.expr);
  if (expr.op == ExprOp::constant)
    return false;
  if (expr.op == ExprOp::symbol)
    return countOf(size.expr).defined();
  return isCounted(Dim(size.value, expr.lhs)) ||
         isCounted(Dim(size.value, expr.rhs));
}

} // namespace sinter::detail
