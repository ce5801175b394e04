/// Ops: what a golden case's op is in this library.
#pragma once

#include "tests/goldens/Suite.h"

#include <sinter/Basic.h>

#include <map>
#include <optional>
#include <set>
#include <span>

namespace sinter::goldens {

/// Tensors by name.
using Values = std::map<std::string, Tensor, std::less<>>;

/// Records the op; nothing when there is no such op, or not with these
/// attributes.
std::optional<Tensor> applyOp(std::string_view op, std::span<const Tensor> x,
                              const Json &attrs);

/// Records a case of category `program` over its inputs, instruction by
/// instruction; nothing when an instruction's op is unknown. The values whose
/// instruction is in `cuts` are evaluated there.
std::optional<Values> recordProgram(const Case &golden, const Values &inputs,
                                    const std::set<size_t> &cuts = {});
/// How many instructions the case has.
size_t countInstructions(const Case &golden);

/// Records a case of convolutions or pooling; nothing for another op.
std::optional<Values> recordWindowed(const Case &golden, const Values &inputs);

/// Records a case of sorting; nothing for another op.
std::optional<Values> recordSorted(const Case &golden, const Values &inputs);

/// Records a case of functions of numbers and reductions.
std::optional<Values> recordMath(const Case &golden, const Values &inputs);
/// Records a case that arranges elements.
std::optional<Values> recordShapes(const Case &golden, const Values &inputs);
/// Records a case of indexing or linear algebra.
std::optional<Values> recordIndexed(const Case &golden, const Values &inputs);
/// Records a case of optimizers or clipping; nothing for another op.
std::optional<Values> recordOptim(const Case &golden, const Values &inputs);

/// Computes a schedule of learning rates; nothing for another op.
std::optional<Values> recordSchedule(const Case &golden, const Values &inputs);

/// Records a case of normalizations or gates; nothing for another op.
std::optional<Values> recordNorm(const Case &golden, const Values &inputs);

/// Records a case of recurrent layers; nothing for another op.
std::optional<Values> recordRecurrent(const Case &golden, const Values &inputs);

/// Records a case of a model, or trains it; nothing for another op.
std::optional<Values> recordModel(const Case &golden, const Values &inputs);

/// Records a case of second derivatives; nothing for another op.
std::optional<Values> recordSecondOrder(const Case &golden,
                                        const Values &inputs);

/// Records a case of losses; nothing for another op.
std::optional<Values> recordLoss(const Case &golden, const Values &inputs);

/// Records a case of special functions, searches, resampling or transforms.
std::optional<Values> recordSampled(const Case &golden, const Values &inputs);

/// Records any other case: one op of the inputs in their order, one output.
std::optional<Values> recordSingle(const Case &golden, const Values &inputs);

} // namespace sinter::goldens
