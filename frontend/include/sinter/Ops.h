/// Ops: one function per op, named by its mnemonic.
#pragma once

#include <sinter/BasicOps.h>

#include <sinter/generated/functions/Activations.h>
#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>
