/// The op table, filled by sinter-tblgen.
#include "runtime/graph/OpTable.h"

#include <cassert>
#include <unordered_map>

#include "sinter/generated/OpTable.inc"
