/// Pending: what happens after each recorded op: eager evaluation, and the
/// limits of what may stay pending.
#pragma once

#include "frontend/Flush.h"
#include "runtime/program/Program.h"

#include <sinter/Tensor.h>

#include <memory>
#include <span>

namespace sinter::detail {

/// Called with every op that a public function recorded.
void noteRecorded(const Tensor &tensor, const SourceLine &where);

/// Called with the results of a jitted call, whose ops were recorded at once.
void noteReplayed(std::span<const Tensor> results, const SourceLine &where);

/// Called when an optimizer has recorded a step: where the limits are passed,
/// it is evaluated.
void noteStepEnd(const SourceLine &where);

/// Called before and after values are asked for: the first where much was
/// recorded since anyone looked, the second where the limits were passed and
/// others than the asked for may wait.
void noteReadBegins(const SourceLine &where);
void noteReadEnds(const SourceLine &where);

/// Whether the recording up to the flush that ends is new: it asks for what
/// its program needs.
bool isNewStep();
/// A flush of this thread ended well, which evaluated `ops` ops.
void noteFlushed(FlushReason reason, size_t ops,
                 const std::shared_ptr<const runtime::Program> &program,
                 size_t temporaries);

/// The thread's default device.
DeviceId currentDevice();

} // namespace sinter::detail
