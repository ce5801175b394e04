/// The import table: every operator that is understood is a row.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sinter::torch {

class Call;

/// Records what one node computes. Throws an Error where it cannot.
using Rule = void (*)(Call &call);

/// One overload. Those that change an operand in place need no row where the
/// one that does not has the same name without `_`.
struct Operator {
  /// As in the file, without `torch.ops.`: `aten.add.Tensor`.
  const char *name;
  Rule rule;
};

/// What a target is looked up as.
struct FoundOperator {
  const Operator *row = nullptr;
  bool isInPlace = false; ///< the result goes where the first operand is
  bool isCopy = false;    ///< results share nothing with operands
};
FoundOperator findOperator(std::string_view target);

/// Every row, ordered by name.
std::span<const Operator> operators();
/// The page docs/torch-operators.md.
std::string operatorsPage();

/// What an operator that is another one by a second name is called in the
/// table; empty for the others. Without overloads: `aten.arccos` is
/// `aten.acos`.
std::string_view otherName(std::string_view name);

// The parts of the table, by family (rules/).
std::span<const Operator> elementwiseRows();
std::span<const Operator> comparisonRows();
std::span<const Operator> activationRows();
std::span<const Operator> contractionRows();
std::span<const Operator> convolutionRows();
std::span<const Operator> normalizationRows();
std::span<const Operator> shapeRows();
std::span<const Operator> sliceRows();
std::span<const Operator> strideRows();
std::span<const Operator> memoryRows();
std::span<const Operator> joinRows();
std::span<const Operator> creationRows();
std::span<const Operator> symbolRows();
std::span<const Operator> controlRows();
std::span<const Operator> attentionRows();
std::span<const Operator> reductionRows();
std::span<const Operator> orderRows();
std::span<const Operator> indexRows();
std::span<const Operator> poolingRows();
std::span<const Operator> sampleRows();
std::span<const Operator> lossRows();
std::span<const Operator> recurrentRows();
std::span<const Operator> signalRows();
std::span<const Operator> randomRows();
std::span<const Operator> visionRows();
std::span<const Operator> backwardRows();
std::span<const Operator> bagRows();
std::span<const Operator> linalgRows();
std::span<const Operator> numberRows();
std::span<const Operator> arrangementRows();
std::span<const Operator> compositionRows();

} // namespace sinter::torch
