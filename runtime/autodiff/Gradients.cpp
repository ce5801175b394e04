/// The gradient rules: generated from the records, and C++ ones by name.
#include "runtime/autodiff/Gradients.h"

#include "runtime/autodiff/rules/Rules.h"
#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Terms.h"
#include "sinter/generated/builders/All.h"

#include <cassert>
#include <limits>

namespace sinter::autodiff {
using graph::AttrReader;
using graph::NodeRef;
namespace term = graph::term;
} // namespace sinter::autodiff

#include "sinter/generated/Gradients.cpp.inc"

namespace sinter::autodiff {

const GradientInfo &gradientOf(graph::OpId op) {
  assert(op != graph::leafOp && op < graph::OpId::count &&
         "a leaf has no rule");
  return gradientInfos[static_cast<size_t>(op) - 1];
}

} // namespace sinter::autodiff
