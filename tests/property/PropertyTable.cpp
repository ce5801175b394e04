/// The property table, filled by sinter-tblgen.
#include "tests/property/PropertyTable.h"

#include "sinter/generated/PropertyTable.inc"

namespace sinter::property {

std::span<const PropertyRow> propertyTable() { return rows; }

bool isDrawable(const PropertyRow &row) {
  return graph::info(row.op).kind != graph::PatternKind::loop;
}

} // namespace sinter::property
