/// Finds rules.
#include "frontend/export/cpp/rows/Rows.h"

#include <map>

namespace sinter::cpp {

CodeRule findCodeRule(std::string_view op) {
  static const auto &table = *[] {
    auto *rules = new std::map<std::string_view, CodeRule>;
    for (auto family : {plainRows(), imageRows()})
      for (const CodeRow &row : family)
        rules->emplace(row.name, row.rule);
    return rules;
  }();
  auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

/// Loops have bodies, and kernels of users their sources; the parts of
/// attention, and numbers that are drawn, are no functions.
bool isWritten(std::string_view op) {
  using Kind = graph::PatternKind;
  if (findCodeRule(op))
    return true;
  graph::OpId id = graph::findOp(op);
  if (id == graph::noOp)
    return false;
  Kind kind = graph::info(id).kind;
  return kind != Kind::loop && kind != Kind::opaque && kind != Kind::random &&
         kind != Kind::collective && kind != Kind::host && kind != Kind::source;
}

} // namespace sinter::cpp
