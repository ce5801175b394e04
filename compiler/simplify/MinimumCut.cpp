/// Dinic's algorithm: flows along shortest paths until none is left.
#include "compiler/simplify/MinimumCut.h"

#include <algorithm>

namespace sinter::compiler {

// What is left of a cost after rounding counts as nothing.
static constexpr double least = 1e-9;

void MinimumCut::addCost(unsigned from, unsigned to, double cost) {
  if (from == to || cost <= least)
    return;
  edges[from].push_back({to, unsigned(edges[to].size()), cost});
  edges[to].push_back({from, unsigned(edges[from].size() - 1), 0});
}

// Steps from the first side along edges with something left.
bool MinimumCut::findLevels() {
  levels.assign(edges.size(), -1);
  std::vector<unsigned> queue{first};
  levels[first] = 0;
  for (size_t i = 0; i < queue.size(); ++i)
    for (const Edge &edge : edges[queue[i]])
      if (edge.rest > least && levels[edge.to] < 0) {
        levels[edge.to] = levels[queue[i]] + 1;
        queue.push_back(edge.to);
      }
  return levels[second] >= 0;
}

// One more path from level to level, if there is one. Without recursion: paths
// are as long as a program.
bool MinimumCut::push() {
  struct Step {
    unsigned node, edge;
  };
  std::vector<Step> path;
  unsigned node = first;
  while (node != second) {
    unsigned &i = next[node];
    while (i < edges[node].size() &&
           (edges[node][i].rest <= least ||
            levels[edges[node][i].to] != levels[node] + 1))
      ++i;
    if (i < edges[node].size()) {
      path.push_back({node, i});
      node = edges[node][i].to;
      continue;
    }
    if (path.empty())
      return false;
    node = path.back().node;
    ++next[node];
    path.pop_back();
  }
  double amount = never;
  for (auto [at, i] : path)
    amount = std::min(amount, edges[at][i].rest);
  total += amount;
  for (auto [at, i] : path) {
    Edge &edge = edges[at][i];
    edge.rest -= amount;
    edges[edge.to][edge.back].rest += amount;
  }
  return true;
}

std::vector<bool> MinimumCut::run() {
  while (findLevels()) {
    next.assign(edges.size(), 0);
    while (push())
      ;
  }
  std::vector<bool> isFirst;
  for (int level : levels)
    isFirst.push_back(level >= 0);
  return isFirst;
}

} // namespace sinter::compiler
