/// Replay: `sinter run` on a repro that SINTER_VERIFY wrote.
#pragma once

#include "tools/sinter/Arguments.h"
#include "tools/sinter/Model.h"

namespace sinter::cli {

/// Runs the repro beside the reference and, with --shrink, makes it smaller.
/// The exit code: ok when there is no difference any more, else failed.
int replayRepro(const Model &model, const Arguments &arguments);

} // namespace sinter::cli
