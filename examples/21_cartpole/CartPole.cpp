/// A cart that balances a pole.
#include "examples/21_cartpole/CartPole.h"

#include <cmath>

CartPoles::CartPoles(int64_t games, uint64_t seed)
    : states(games * measures), lengths(games), over(games), lastLengths(games),
      random(seed) {
  for (int64_t game = 0; game < games; ++game)
    begin(game);
}

void CartPoles::begin(int64_t game) {
  lengths[game] = 0;
  for (int64_t i = 0; i < measures; ++i)
    states[game * measures + i] = static_cast<float>(0.1 * draw() - 0.05);
}

// SplitMix64 (Steele, Lea, Flood, 2014).
double CartPoles::draw() {
  random += 0x9e3779b97f4a7c15;
  uint64_t x = random;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

void CartPoles::step(const std::vector<int64_t> &chosen) {
  constexpr double gravity = 9.8, cart = 1, pole = 0.1, half = 0.5; // kg, m
  constexpr double push = 10, seconds = 0.02;                       // N
  constexpr double farthest = 2.4, steepest = 12 * 3.14159265358979 / 180;
  for (int64_t game = 0; game < size(); ++game) {
    float *state = &states[game * measures];
    double angle = state[2], turn = state[3];
    double force = chosen[game] == 1 ? push : -push;
    double sine = std::sin(angle), cosine = std::cos(angle);
    double pulled = (force + pole * half * turn * turn * sine) / (cart + pole);
    double turning =
        (gravity * sine - cosine * pulled) /
        (half * (4.0 / 3 - pole * cosine * cosine / (cart + pole)));
    double moving = pulled - pole * half * turning * cosine / (cart + pole);
    state[0] += static_cast<float>(seconds * state[1]);
    state[1] += static_cast<float>(seconds * moving);
    state[2] += static_cast<float>(seconds * turn);
    state[3] += static_cast<float>(seconds * turning);
    ++lengths[game];
    bool fallen =
        std::abs(state[0]) > farthest || std::abs(state[2]) > steepest;
    over[game] = fallen || lengths[game] == longest;
    if (over[game]) {
      lastLengths[game] = lengths[game];
      begin(game);
    }
  }
}
