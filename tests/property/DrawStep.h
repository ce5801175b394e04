/// DrawStep: random operands and attributes for any op of the table.
#pragma once

#include "tests/property/Recipe.h"

#include <optional>

namespace sinter::property {

/// Grows a recipe by random steps.
class RecipeDrawer {
public:
  struct Options {
    /// Operands may be earlier values, not only new leaves.
    bool reuses = false;
    /// The largest dim; 1 is often drawn, and 0 where `empties`.
    int64_t largestDim = 5;
    bool empties = true;
    /// Leaves hold NaNs, infinities, signed zeros and denormals too, and no
    /// operand has to be exact.
    bool extremes = false;
  };

  RecipeDrawer(uint64_t seed, Options options)
      : random(seed), options(options) {}

  /// Adds a step of the op, and the leaves that it needs. The first operand
  /// (of a source: the result) has `dtype` if given. False when nothing fits.
  bool draw(const PropertyRow &row, std::optional<DType> dtype = std::nullopt);
  /// Adds a step of the op whose first operand is the last step's result.
  bool drawOnLast(const PropertyRow &row);
  /// Adds a leaf; its number among all values, for `apply`.
  uint32_t addLeaf(DType dtype, const std::vector<int64_t> &dims,
                   Domain domain);
  /// Adds a step of the op on these values; the number of its result. The
  /// operands and attributes must be right.
  uint32_t apply(graph::OpId op, std::vector<uint32_t> operands,
                 std::vector<uint64_t> attrs = {});
  const std::vector<int64_t> &shapeOf(uint32_t value) const {
    return at(value).dims;
  }

  /// Makes the value an output whether steps use it or not.
  void store(uint32_t value) { stored.push_back(value); }
  /// The recipe; its outputs are the values that no step uses, and those that
  /// are stored.
  Recipe finish() const;

  Random random;

private:
  /// What an operand has to be.
  struct Wanted {
    DType dtype = DType::f32;
    std::vector<int64_t> dims;
    int64_t positions = 1;
    bool isNew = false; ///< a leaf drawn for this step
  };
  /// Everything that decides a step.
  struct Plan {
    std::vector<Wanted> operands;
    int64_t axis = 0;
    std::vector<int64_t> axes, permutation, shape, starts, limits, steps, low,
        interior;
    DType dtype = DType::f32;
    std::vector<uint64_t> words; ///< the attributes, where they are drawn whole
  };
  /// A value so far. Compiled code must compute exact ones to the bit.
  struct Known {
    DType dtype;
    std::vector<int64_t> dims;
    bool exact = true;
  };

  std::optional<Plan> plan(const PropertyRow &row, Wanted first);
  bool planView(std::string_view rule, Plan &plan);
  bool planIndexed(std::string_view rule, size_t count, Plan &plan);
  bool planWindows(std::string_view rule, Plan &plan);
  Wanted drawFirst(const PropertyRow &row, std::optional<DType> dtype);
  std::vector<int64_t> drawDims(size_t leastRank);
  int64_t drawDim();
  DType drawDType(graph::DTypeSet allowed);
  std::vector<uint64_t> attrs(const PropertyRow &row, const Plan &plan);
  uint32_t place(const PropertyRow &row, size_t index, const Wanted &wanted);
  bool addStep(const PropertyRow &row, const Plan &plan);
  void append(RecipeStep step, const graph::Node &result);
  bool coin(int oneIn = 2) { return below(random, oneIn) == 0; }
  const Known &at(uint32_t value) const;

  /// While drawing, steps are numbered from here, so that leaves can follow.
  static constexpr uint32_t firstStep = 1 << 20;
  Options options;
  Recipe recipe;
  std::vector<Known> leaves;
  std::vector<Known> made;
  std::vector<uint32_t> stored;
  /// The value that the first operand is, where that is settled.
  std::optional<uint32_t> pinned;
};

} // namespace sinter::property
