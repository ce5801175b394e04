/// Where in a tensor elements are asked for: coordinates with lanes.
#include "compiler/lower/element/Index.h"

namespace sinter::compiler {

bool Index::isUniform() const {
  for (const Coord &coord : lead)
    if (!coord.isUniform())
      return false;
  return tailRank == 0 || tail.isUniform();
}

} // namespace sinter::compiler
