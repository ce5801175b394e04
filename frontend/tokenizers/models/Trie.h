/// Trie: which tokens a text begins with.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::text {

class Trie {
public:
  static constexpr uint32_t none = UINT32_MAX;
  static constexpr uint32_t root = 0;

  /// Of tokens with their ids; of one that is there twice the last counts.
  void build(std::vector<std::pair<std::string_view, int32_t>> tokens);

  /// The node behind `node` and `byte`, or none.
  uint32_t next(uint32_t node, uint8_t byte) const;
  /// The token that ends at the node, or -1.
  int32_t id(uint32_t node) const { return nodes[node].id; }

private:
  struct Node {
    uint32_t first = 0; ///< of its children, which follow each other
    int32_t id = -1;
    uint16_t count = 0;
    uint8_t label = 0;
  };
  std::vector<Node> nodes = {Node()};
  std::array<uint32_t, 256> begins = {}; ///< children of the root; 0: none
};

inline uint32_t Trie::next(uint32_t node, uint8_t byte) const {
  if (node == root)
    return begins[byte] ? begins[byte] : none;
  uint32_t first = nodes[node].first, count = nodes[node].count;
  while (count > 8) {
    uint32_t half = count / 2;
    if (nodes[first + half].label <= byte) {
      first += half;
      count -= half;
    } else {
      count = half;
    }
  }
  for (uint32_t i = 0; i < count; ++i)
    if (nodes[first + i].label == byte)
      return first + i;
  return none;
}

} // namespace sinter::text
