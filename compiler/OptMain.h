/// `sinter opt`: passes on text, for tests and for looking at one step.
#pragma once

namespace sinter::compiler {

/// MLIR's opt tool with this compiler's dialects and passes, and two more
/// flags: `--until=STAGE` runs the stages from import to fuse or plan on the
/// function `main`, `--pipeline=PASSES` the given passes on the module. Returns
/// the exit code: 0 ok, 1 the input or a pass failed, 2 bad usage.
int optMain(int argc, char **argv);

} // namespace sinter::compiler
