/// SectionReader: what copies a flatbuffer's lists and texts has of this.
#pragma once

#include "runtime/program/CopyBudget.h"
#include "runtime/program/ModelError.h"
#include "runtime/program/ProgramData.h"
#include "sinter/generated/program_generated.h"

#include <string>
#include <vector>

namespace sinter::runtime {

/// How long a list of the file's is, which may be absent.
template <typename List> size_t sizeOf(const List *list) {
  return list ? list->size() : 0;
}

template <typename List>
Status checkLength(const List *list, const char *what) {
  if (sizeOf(list) > maxListLength)
    return brokenModel("{} {}, at most {} are allowed", sizeOf(list), what,
                       maxListLength);
  return {};
}

/// Copies within a budget. Errors are of kind `io`.
class SectionReader {
protected:
  /// `section` is what errors call it, with its article.
  SectionReader(const char *section, CopyBudget &budget)
      : section(section), budget(budget) {}

  Status take(uint64_t bytes) {
    if (!budget.take(bytes))
      return brokenModel("{} names its parts again and again", section);
    return {};
  }
  /// For a list of the file's, before it is copied.
  template <typename Element, typename List>
  Status makeRoom(const List *list, const char *what,
                  std::vector<Element> &to) {
    SINTER_TRY(checkLength(list, what));
    SINTER_TRY(take(sizeOf(list) * sizeof(Element)));
    to.reserve(sizeOf(list));
    return {};
  }
  Status copyText(const flatbuffers::String *from, std::string &to) {
    if (!from)
      return {};
    SINTER_TRY(take(from->size()));
    to = from->string_view();
    return {};
  }

private:
  const char *const section;
  CopyBudget &budget;
};

} // namespace sinter::runtime
