/// `sinter opt`: passes on text, for tests and for looking at one step.
#pragma once

namespace sinter::compiler {

/// MLIR's opt tool with this compiler's dialects and passes, and three more
/// flags. `--until=STAGE` runs the stages up to one on the function `main`, as
/// `sinter inspect --stage` does and shows them (any of its forms), with no
/// other flags than `--split-input-file` and `-o`; `--pipeline=PASSES` runs the
/// given passes on the module; `--target=NAME` is what either compiles for, by
/// itself `cpu`, and of passes what the module says. Returns the exit code: 0
/// ok, 1 the input or a pass failed, 2 bad usage.
int optMain(int argc, char **argv);

} // namespace sinter::compiler
