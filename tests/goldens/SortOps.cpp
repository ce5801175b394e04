/// Golden cases of sorting: values with the positions they had.
#include "tests/goldens/Attrs.h"
#include "tests/goldens/Ops.h"

namespace sinter::goldens {

static Values pair(const Sorted &sorted) {
  return {{"values", sorted.values}, {"indices", sorted.indices}};
}

std::optional<Values> recordSorted(const Case &golden, const Values &inputs) {
  auto x = inputs.find("x");
  if (golden.category != "sort" || x == inputs.end())
    return std::nullopt;
  Attrs attrs(golden.attrs);
  int64_t axis = attrs.integer("dim", -1);
  if (golden.op == "sort" || golden.op == "stable_sort_ties")
    return pair(sort(x->second, axis, attrs.flag("descending")));
  if (golden.op == "topk")
    return pair(topk(x->second, attrs.integer("k"), axis, attrs.flag("largest"),
                     attrs.flag("sorted")));
  if (golden.op == "median_lower")
    return Values{{"y", median(x->second, axis).values}};
  if (golden.op == "count_nonzero_nonzero")
    return Values{{"count", count_nonzero(x->second)},
                  {"nonzero", nonzero(x->second)}};
  return std::nullopt;
}

} // namespace sinter::goldens
