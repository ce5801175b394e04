/// Numerics: how programs round.
#pragma once

#include <cstdint>
#include <optional>
#include <source_location>

namespace sinter {

/// The modes of docs/numerics.md. `standard` is the one that is called
/// `default` elsewhere, which is no name in C++.
enum class Numerics : uint8_t { exact, standard, fast };

/// The mode of what this thread evaluates: what `set_numerics` said on this
/// thread, else what SINTER_NUMERICS says. It counts when values are asked for,
/// not when they are recorded, and is part of the key: each mode has programs
/// of its own. Throws where SINTER_NUMERICS names no mode.
Numerics numerics(std::source_location where = std::source_location::current());

/// Sets the mode of this thread.
void set_numerics(Numerics mode);

/// While it lives, this thread evaluates in `mode`.
class numerics_scope {
public:
  explicit numerics_scope(Numerics mode);
  ~numerics_scope();
  numerics_scope(const numerics_scope &) = delete;
  numerics_scope &operator=(const numerics_scope &) = delete;

private:
  std::optional<Numerics> previous;
};

} // namespace sinter
