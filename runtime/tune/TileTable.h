/// TileTable: which tiles were chosen, in memory and in the disk cache.
#pragma once

#include "runtime/program/CompilerHook.h"
#include "runtime/support/Key.h"

#include <optional>
#include <vector>

namespace sinter::runtime {

using TileChoices = std::vector<TileChoice>;

/// What was kept under the key: choices, of which there may be none. Nothing
/// when nothing was. An entry on disk that is broken is a counted warning, and
/// removed. Thread-safe.
std::optional<TileChoices> findTiles(const Key &key);

/// Keeps choices for this process and, where the disk cache can be used, for
/// others. Thread-safe.
void keepTiles(const Key &key, const TileChoices &tiles);

/// For tests: what this process knows is read from disk again.
void forgetTiles();

/// Choices as text, a line each, and back; nothing where it is no such text.
std::string toText(const TileChoices &tiles);
std::optional<TileChoices> parseTiles(std::string_view text);

} // namespace sinter::runtime
