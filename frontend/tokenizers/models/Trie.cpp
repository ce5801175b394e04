/// Which tokens a text begins with.
#include "frontend/tokenizers/models/Trie.h"

#include <algorithm>

namespace sinter::text {

void Trie::build(std::vector<std::pair<std::string_view, int32_t>> tokens) {
  std::ranges::stable_sort(
      tokens, [](const auto &a, const auto &b) { return a.first < b.first; });
  /// Tokens [begin, end) go through the node, `depth` bytes are behind them.
  struct Part {
    uint32_t node;
    size_t begin, end, depth;
  };
  std::vector<Part> parts = {{root, 0, tokens.size(), 0}};
  nodes.assign(1, {});
  begins.fill(0);
  // One level after the other: a node's children follow each other.
  for (size_t i = 0; i < parts.size(); ++i) {
    auto [node, begin, end, depth] = parts[i];
    for (; begin < end && tokens[begin].first.size() == depth; ++begin)
      nodes[node].id = tokens[begin].second;
    nodes[node].first = uint32_t(nodes.size());
    while (begin < end) {
      auto label = uint8_t(tokens[begin].first[depth]);
      size_t last = begin;
      while (last < end && uint8_t(tokens[last].first[depth]) == label)
        ++last;
      auto child = uint32_t(nodes.size());
      nodes.push_back({0, -1, 0, label});
      ++nodes[node].count;
      if (node == root)
        begins[label] = child;
      parts.push_back({child, begin, last, depth + 1});
      begin = last;
    }
  }
}

} // namespace sinter::text
