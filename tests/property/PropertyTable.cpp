/// The property table, filled by sinter-tblgen.
#include "tests/property/PropertyTable.h"

#include "runtime/graph/OpIds.h"

#include "sinter/generated/PropertyTable.inc"

namespace sinter::property {

std::span<const PropertyRow> propertyTable() { return rows; }

bool isOfComplex(const PropertyRow &row) {
  return row.shapeRule == "complexOfParts" || row.shapeRule == "partOfComplex";
}

bool isDrawable(const PropertyRow &row) {
  graph::PatternKind kind = graph::info(row.op).kind;
  return kind != graph::PatternKind::loop &&
         kind != graph::PatternKind::opaque && !isOfComplex(row);
}

} // namespace sinter::property
