/// PyTorch programs with inputs and outputs, for `sinter check`.
#pragma once

#include "tools/sinter/OnnxCases.h"

#include <sinter/Creation.h>

#include <string>
#include <vector>

namespace sinter::cli {

/// A folder with `model.pt2`, `case.json` and `case.safetensors`:
///  - inputs, outputs: `[{"name", "kind"}]`, kind one of tensor, int, float,
///    bool, none and string; `in.K` and `out.K` are their values, `in1.K` and
///    `out1.K` those of a second set of other sizes.
///  - rtol: how far floats may be off, of the largest of their tensor.
///  - expect: `equal`, `shapes` where values are random, or `refused`.
///  - train: `{"rate", "output"}`: `loss` are those of steps of gradient
///    descent on the mean of the squares of that output less `target`.
///  - `after.NAME` is a buffer after all sets, or steps, on one model.
struct TorchCase {
  std::string id;
  std::string folder;
};

/// The cases in a folder: itself, or those in it.
std::vector<TorchCase> findTorchCases(const std::string &folder);

/// Runs one case; never throws for what the program does.
CaseResult runTorchCase(const TorchCase &one, DeviceId device);

} // namespace sinter::cli
