/// The import table: every operator that is understood is a row.
#pragma once

#include "frontend/import/onnx/Records.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::onnx {

class Call;

/// Records what one node computes. Throws an Error where it cannot.
using Rule = void (*)(Call &call);

/// One operator over a range of versions of its domain.
struct Operator {
  const char *name;
  int since; ///< the first opset with this meaning
  int until; ///< the last one; 0: the newest
  /// `axis:int=-1 mode:string=constant perm:ints`: names, types (int, float,
  /// string, ints, floats, strings, tensor, graph, type) and defaults. One with
  /// `!` at its end must be given.
  const char *attributes;
  Rule rule;
  const char *domain = "";
};

/// One attribute of a row.
struct AttributeSpec {
  std::string_view name;
  AttributeType type = AttributeType::undefined;
  std::string_view defaultText; ///< empty: none
  bool isRequired = false;
};
/// A row's attributes, apart.
std::vector<AttributeSpec> attributesOf(const Operator &row);
/// As the table calls a type.
std::string_view nameOf(AttributeType type);

/// Every row, ordered by domain, name and version.
std::span<const Operator> operators();
/// The row of an operator in a version of its domain, or null.
const Operator *findOperator(std::string_view domain, std::string_view name,
                             int64_t opset);
/// Whether the table has the operator in another version.
bool isInAnotherVersion(std::string_view domain, std::string_view name);

/// The page docs/onnx-operators.md.
std::string operatorsPage();

// The parts of the table, by family (rules/).
std::span<const Operator> elementwiseRows();
std::span<const Operator> activationRows();
std::span<const Operator> logicRows();
std::span<const Operator> reductionRows();
std::span<const Operator> softmaxRows();
std::span<const Operator> contractionRows();
std::span<const Operator> convolutionRows();
std::span<const Operator> poolingRows();
std::span<const Operator> normalizationRows();
std::span<const Operator> shapeRows();
std::span<const Operator> sliceRows();
std::span<const Operator> indexRows();
std::span<const Operator> creationRows();
std::span<const Operator> quantizeRows();
std::span<const Operator> resizeRows();
std::span<const Operator> recurrentRows();
std::span<const Operator> controlRows();
std::span<const Operator> attentionRows();
std::span<const Operator> lossRows();
std::span<const Operator> sequenceRows();
std::span<const Operator> stateRows();
std::span<const Operator> signalRows();
std::span<const Operator> randomRows();
std::span<const Operator> trainingRows();
std::span<const Operator> sampleRows();
std::span<const Operator> countedRows();
std::span<const Operator> featureRows();
std::span<const Operator> gramRows();
std::span<const Operator> detectionRows();
std::span<const Operator> microsoftAttentionRows();
std::span<const Operator> microsoftLayerRows();
std::span<const Operator> microsoftQuantizedRows();

} // namespace sinter::onnx
