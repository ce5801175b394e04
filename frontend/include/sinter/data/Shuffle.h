/// Random orders that are the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace sinter::data {

/// The numbers 0 to count-1 in an order that only `seed` decides.
std::vector<int64_t> shuffled(int64_t count, uint64_t seed);

/// The numbers 0 to count-1 as they are.
std::vector<int64_t> consecutive(int64_t count);

} // namespace sinter::data
