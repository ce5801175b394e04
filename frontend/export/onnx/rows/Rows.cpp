/// Finds rows.
#include "frontend/export/onnx/rows/Rows.h"

#include <map>

namespace sinter::onnx {

const WrittenOp *findWrittenOp(std::string_view name) {
  static const auto &table = *[] {
    auto *rows = new std::map<std::string_view, const WrittenOp *>;
    for (auto family : {writtenArithmetic(), writtenViews(), writtenNetworks(),
                        writtenImages()})
      for (const WrittenOp &row : family)
        rows->emplace(row.name, &row);
    return rows;
  }();
  auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

} // namespace sinter::onnx
