/// Draws: what the parts of drawing a case share.
#pragma once

#include "tests/property/Cases.h"

#include <string_view>

namespace sinter::property {

bool drawBool(Rng &rng);
/// A shape whose rank lies in [minRank, maxRank].
Shape drawShape(Rng &rng, Sizes sizes, int64_t minRank, int64_t maxRank);
/// Whether the op's schema has an attribute of that name.
bool hasAttr(const PropertyRow &row, std::string_view name);

} // namespace sinter::property
