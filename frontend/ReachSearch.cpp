/// Depth-first search through operands, without recursion.
#include "frontend/ReachSearch.h"

namespace sinter::detail {

void ReachSearch::addTarget(const graph::Node *leaf) {
  if (!answers.find(leaf))
    answers.insert(leaf, yes);
}

bool ReachSearch::reaches(const graph::Node *root) {
  if (const uint32_t *answer = answers.find(root))
    return *answer == yes;
  stack.push_back({root, 0, false});
  while (true) {
    Frame &top = stack.back();
    std::span<const graph::NodeRef> operands = top.node->operands();
    if (top.nextOperand == operands.size()) {
      Frame done = top;
      stack.pop_back();
      answers.insert(done.node, done.found ? yes : no);
      if (done.found && done.node->isReady())
        history.push_back(done.node);
      if (stack.empty())
        return done.found;
      stack.back().found |= done.found;
      continue;
    }
    const graph::Node *operand = operands[top.nextOperand++].get();
    if (const uint32_t *answer = answers.find(operand))
      top.found |= *answer == yes;
    else
      stack.push_back({operand, 0, false});
  }
}

} // namespace sinter::detail
