/// Initialize: the one program that makes the initial values of lazy state.
#pragma once

#include "frontend/Flush.h"
#include "sinter/runtime/Result.h"

#include <vector>

namespace sinter::detail {

/// Gives lazy leaves their initial values, each made once for all that share
/// it, all of them by one program per device. Takes evaluation's lock itself.
Status initialize(std::span<const graph::NodeRef> leaves,
                  const EvaluationNote &note);

/// A flush of these nodes (of one device) and nothing else.
Status flushAlone(std::span<const graph::NodeRef> nodes,
                  const EvaluationNote &note);

/// SINTER_CHECK_NAN: whether it is on, and evaluating op by op until one makes
/// a NaN or an infinity, which is thrown with its line.
bool checksNan();
void checkNan(std::span<const graph::NodeRef> nodes,
              const EvaluationNote &note);

} // namespace sinter::detail
