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
    /// The largest dim; 0 and 1 are always among the dims drawn.
    int64_t largestDim = 5;
    /// Dims of 0 are among them.
    bool empties = true;
  };

  RecipeDrawer(uint64_t seed, Options options)
      : random(seed), options(options) {}

  /// Adds a step of the op, and the leaves that it needs. The first operand
  /// has `dtype` if given and possible. False when nothing fits.
  bool draw(const PropertyRow &row, std::optional<DType> dtype = std::nullopt);

  /// Every value that no step uses.
  void returnUnused();

  Random random;
  Recipe recipe;

private:
  /// What an operand has to be.
  struct Wanted {
    DType dtype = DType::f32;
    std::vector<int64_t> dims;
    Domain domain{};
    int64_t positions = 1;
  };
  struct Known {
    DType dtype;
    std::vector<int64_t> dims;
    /// Whether compiled code must compute it to the bit.
    bool exact = true;
  };

  bool wantOperands(const PropertyRow &row, Wanted first);
  Wanted drawFirst(const PropertyRow &row, std::optional<DType> dtype);
  std::vector<int64_t> drawDims(size_t leastRank, bool nonEmpty);
  int64_t drawDim(bool nonEmpty);
  DType drawDType(graph::DTypeSet allowed);
  std::vector<uint64_t> drawAttrs(const PropertyRow &row);
  void drawViewAttrs(const PropertyRow &row);
  uint32_t place(const PropertyRow &row, const Wanted &wanted, bool mayReuse);
  bool add(const PropertyRow &row);

  Options options;
  std::vector<Known> known; ///< leaves
  std::vector<Known> made;  ///< steps
  std::vector<Wanted> operands;
  size_t axis = 0;
  std::vector<int64_t> shape, starts, limits, interior;
  std::vector<int64_t> axes;
  DType target = DType::f32;
};

} // namespace sinter::property
