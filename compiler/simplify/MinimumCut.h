/// The cheapest cut between two sides of a directed graph.
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace sinter::compiler {

/// Nodes that have to be on one of two sides, and what it costs that one is on
/// the first side and another on the second.
class MinimumCut {
public:
  static constexpr double never = 1e30;            ///< a cost that is not paid
  static constexpr unsigned first = 0, second = 1; ///< the sides' own nodes

  MinimumCut() : edges(2) {}

  unsigned addNode() {
    edges.emplace_back();
    return unsigned(edges.size() - 1);
  }
  /// The cost of `from` on the first side while `to` is on the second.
  void addCost(unsigned from, unsigned to, double cost);

  /// For each node whether it is on the first side. Of equal cuts the one with
  /// the fewest nodes there. Leaves the costs used up.
  std::vector<bool> run();
  /// After `run`: of the cut.
  double cost() const { return total; }

private:
  struct Edge {
    unsigned to;
    unsigned back; ///< number of the opposite edge among those of `to`
    double rest;
  };

  bool findLevels();
  bool push();

  std::vector<llvm::SmallVector<Edge, 4>> edges;
  std::vector<int> levels;
  std::vector<unsigned> next;
  double total = 0;
};

} // namespace sinter::compiler
