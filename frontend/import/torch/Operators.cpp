/// The import table, put together of its parts.
#include "frontend/import/torch/Operators.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sinter::torch {

static std::vector<Operator> sortedRows() {
  constexpr std::span<const Operator> (*parts[])() = {
      elementwiseRows, comparisonRows,    activationRows,  contractionRows,
      convolutionRows, normalizationRows, shapeRows,       sliceRows,
      strideRows,      memoryRows,        joinRows,        creationRows,
      symbolRows,      controlRows,       attentionRows,   reductionRows,
      orderRows,       indexRows,         poolingRows,     sampleRows,
      lossRows,        recurrentRows,     signalRows,      randomRows,
      visionRows,      backwardRows,      bagRows,         linalgRows,
      numberRows,      arrangementRows,   compositionRows,
  };
  std::vector<Operator> all;
  for (auto part : parts)
    all.insert(all.end(), part().begin(), part().end());
  std::ranges::sort(
      all, {}, [](const Operator &row) { return std::string_view(row.name); });
  return all;
}

std::span<const Operator> operators() {
  static const auto &rows = *new std::vector<Operator>(sortedRows());
  return rows;
}

static const Operator *findRow(std::string_view name) {
  std::span<const Operator> rows = operators();
  auto found =
      std::ranges::lower_bound(rows, name, {}, [](const Operator &row) {
        return std::string_view(row.name);
      });
  return found != rows.end() && name == found->name ? &*found : nullptr;
}

/// `aten.add_.Tensor` is `aten.add.Tensor` in place. Names with `__` at both
/// ends are none of these.
static std::string withoutUnderscore(std::string_view name) {
  size_t overload = name.rfind('.');
  if (overload == name.npos || overload < 2 || name[overload - 1] != '_' ||
      name[overload - 2] == '_')
    return {};
  return std::string(name.substr(0, overload - 1)) +
         std::string(name.substr(overload));
}

/// Its name without the overload, and the overload with its dot.
static std::pair<std::string, std::string> splitName(std::string_view name) {
  size_t dot = name.rfind('.');
  if (dot == name.npos)
    return {std::string(name), {}};
  return {std::string(name.substr(0, dot)), std::string(name.substr(dot))};
}

/// By its own name, by that without `_`, or by the one that it has in the
/// table. What ends in `_copy` is a view, copied.
FoundOperator findOperator(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.", copy = "_copy";
  if (target.starts_with(prefix))
    target.remove_prefix(prefix.size());
  if (const Operator *row = findRow(target))
    return {row};
  if (const Operator *row = findRow(withoutUnderscore(target)))
    return {row, true};
  auto [name, overload] = splitName(target);
  bool isCopy = name.ends_with(copy), isInPlace = name.ends_with('_');
  if (isCopy)
    return {findRow(name.substr(0, name.size() - copy.size()) + overload),
            false, true};
  if (isInPlace)
    name.pop_back();
  std::string_view other = otherName(name);
  if (other.empty())
    return {};
  return {findRow(std::string(other) + overload), isInPlace};
}

/// `aten.add` of `aten.add.Tensor`, and `Tensor`.
static std::pair<std::string_view, std::string_view>
partsOf(std::string_view name) {
  size_t dot = name.rfind('.');
  bool hasOverload = dot != name.npos && name.find('.') != dot;
  if (!hasOverload)
    return {name, {}};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string operatorsPage() {
  std::string page =
      "# Operators of PyTorch programs\n\n"
      "What `sn::torch::load` records, with the overloads of each. Those that\n"
      "change an operand in place (`add_`) are read wherever the plain one "
      "is.\n"
      "`SINTER_WRITE_PAGES=1 torch-test` writes this page.\n\n";
  std::string_view last;
  for (const Operator &row : operators()) {
    auto [name, overload] = partsOf(row.name);
    if (name != last)
      page += (last.empty() ? "- `" : "\n- `") + std::string(name) + "`";
    if (!overload.empty() && overload != "default")
      page += (name != last ? ": " : ", ") + std::string(overload);
    last = name;
  }
  return page + "\n";
}

} // namespace sinter::torch
