/// The umbrella header of Sinter.
#pragma once

#include <sinter/Creation.h>
#include <sinter/Error.h>
#include <sinter/Inspect.h>
#include <sinter/Ops.h>
#include <sinter/Random.h>
#include <sinter/Stats.h>
#include <sinter/Tensor.h>
#include <sinter/Transforms.h>
