/// Samplers: in which order an epoch takes the items of a data set.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace sinter::data {

/// The indices that epoch 0, 1, ... takes of `size` items, in order. Called
/// again with the same numbers it gives the same, so a place in an epoch is a
/// number.
using Sampler =
    std::function<std::vector<int64_t>(int64_t size, int64_t epoch)>;

/// Every item, in order.
Sampler sequential_sampler();
/// `count` items an epoch (0: as many as there are), each epoch in another
/// order that only `seed` decides. None comes a second time before every one
/// came.
Sampler random_sampler(uint64_t seed, int64_t count = 0);
/// `count` items an epoch (0: as many as there are), each drawn from all.
Sampler replacement_sampler(uint64_t seed, int64_t count = 0);
/// The same with probabilities proportional to `weights`, one of each item:
/// none below 0, not all 0. Without `replacement` no item comes twice, and
/// there must be `count` weights above 0.
Sampler weighted_sampler(std::vector<double> weights, uint64_t seed,
                         int64_t count = 0, bool replacement = true);

} // namespace sinter::data
