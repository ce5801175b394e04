/// A cart that balances a pole: the task of Barto, Sutton and Anderson (1983)
/// with the numbers of Gymnasium's CartPole-v1.
#pragma once

#include <sinter/Record.h>

#include <cstdint>
#include <vector>

/// Several games at once, each begun anew when its pole falls.
class CartPoles {
public:
  static constexpr int64_t measures = 4; ///< position, speed, angle, its speed
  static constexpr int64_t actions = 2;  ///< to the left, to the right
  static constexpr int64_t longest = 500;

  explicit CartPoles(int64_t games, uint64_t seed);

  int64_t size() const { return static_cast<int64_t>(lengths.size()); }
  /// All measures, game by game.
  const std::vector<float> &observations() const { return states; }
  /// Whether a game has just ended; it has begun anew then.
  bool ended(int64_t game) const { return over[game] != 0; }
  /// How many steps the game took that has just ended, which is its return.
  int64_t lastLength(int64_t game) const { return lastLengths[game]; }
  /// One step of all games.
  void step(const std::vector<int64_t> &chosen);
  /// A number of [0, 1).
  double draw();

  SINTER_RECORD(CartPoles, states, lengths, over, lastLengths, random)

private:
  void begin(int64_t game);

  std::vector<float> states;
  std::vector<int64_t> lengths, over, lastLengths;
  int64_t random; ///< the state of a SplitMix64
};
