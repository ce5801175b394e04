/// TorchCall: calls as PyTorch writes them, f(args..., name=...), brought to
/// the names of the function's parameters.
#pragma once

#include "tests/goldens/Attrs.h"

#include <functional>

namespace sinter::goldens {

using Tensors = std::vector<Tensor>;

/// What a function of PyTorch is in this library.
struct TorchRule {
  /// The parameters' names in order. A tensor of name `x@` may have rank 0,
  /// where it counts as one element along the axis that the call names. `xs*`
  /// takes every argument that stands alone.
  std::string_view parameters;
  /// Records the call; none for what the other golden cases call `golden`, by
  /// the same names of operands and attributes.
  Tensors (*record)(const OpCall &call) = nullptr;
  std::string_view golden = {};
};
using TorchTable = std::map<std::string, TorchRule, std::less<>>;

/// Whether the case's attributes are `args` and `kwargs`.
bool isTorchCall(const Case &golden);

/// Records such a case; its results are called 0, 1, ... A function that no
/// table has, and arguments that its rule does not know, are errors of the kind
/// `unsupported`.
Values recordTorch(const Case &golden, const Values &inputs);

TorchTable torchMath();
TorchTable torchReductions();
TorchTable torchShapes();
TorchTable torchIndexing();
TorchTable torchLayers();
TorchTable torchImages();
TorchTable torchLosses();

//===- What rules ask of their calls --------------------------------------===//

/// The tensor of that name, if one was given.
std::optional<Tensor> given(const OpCall &call, std::string_view name);
/// A tensor, or a number as a tensor of rank 0.
Tensor operand(const OpCall &call, std::string_view name);
/// The tensors of a list, in order.
Tensors tensorList(const OpCall &call, std::string_view name);
/// The axes of a reduction: every one when none is named.
Axes reducedAxes(const OpCall &call, std::string_view name = "dim");
/// Throws an error of kind `unsupported`.
[[noreturn]] void refuse(std::string_view what);

} // namespace sinter::goldens
