/// The umbrella header of Sinter.
#pragma once

#include <sinter/Basic.h>
#include <sinter/Complex.h>
#include <sinter/Export.h>
#include <sinter/Ops.h>
