/// Clipping of gradients, between `backward` and `step`.
#pragma once

#include <sinter/Transforms.h>

#include <source_location>

namespace sinter::optim {

/// The p-norm of all gradients as one vector; p may be infinity.
Tensor grad_norm(const Gradients &gradients, double p = 2,
                 std::source_location where = std::source_location::current());

/// Scales all gradients by min(1, max_norm / (norm + 1e-6)), norm the p-norm
/// of all of them; gives the norm. Records ops, runs nothing: the step stays
/// one program.
Tensor
clip_grad_norm(Gradients &gradients, double max_norm, double p = 2,
               std::source_location where = std::source_location::current());

/// The same for each gradient by its own norm.
void clip_each_grad_norm(
    Gradients &gradients, double max_norm, double p = 2,
    std::source_location where = std::source_location::current());

/// Brings every element into [-limit, limit].
void clip_grad_value(
    Gradients &gradients, double limit,
    std::source_location where = std::source_location::current());

} // namespace sinter::optim
