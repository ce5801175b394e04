/// The user's op functions, generated from the records.
#include <sinter/Ops.h>
#include <sinter/generated/functions/Complex.h>

#include "frontend/ComplexOps.h"
#include "frontend/ElementwiseFunctions.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/graph/OpIds.h"
#include "sinter/generated/builders/All.h"

#include "sinter/generated/Ops.cpp.inc"
#include "sinter/generated/TensorMethods.cpp.inc"
