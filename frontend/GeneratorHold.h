/// GeneratorHold: random numbers as if nothing had been drawn.
#pragma once

#include <sinter/Random.h>

namespace sinter::detail {

/// While it lives, what is drawn of the thread's default generator is drawn
/// again afterwards. Around Params whose first value is no random one: what a
/// training draws does not depend on them.
class GeneratorHold {
public:
  GeneratorHold() = default;
  ~GeneratorHold() { default_generator() = before; }
  GeneratorHold(const GeneratorHold &) = delete;

private:
  Generator before = default_generator();
};

} // namespace sinter::detail
