/// The import table as a whole, and the page that is made of it.
#include "frontend/import/onnx/Operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace sinter::onnx {

static std::string_view domainOf(const Operator &row) { return row.domain; }

static std::vector<Operator> allRows() {
  std::vector<Operator> rows;
  for (std::span<const Operator> part :
       {elementwiseRows(),    activationRows(),
        logicRows(),          reductionRows(),
        softmaxRows(),        contractionRows(),
        convolutionRows(),    poolingRows(),
        normalizationRows(),  shapeRows(),
        sliceRows(),          indexRows(),
        creationRows(),       quantizeRows(),
        resizeRows(),         recurrentRows(),
        controlRows(),        attentionRows(),
        lossRows(),           sequenceRows(),
        stateRows(),          signalRows(),
        randomRows(),         trainingRows(),
        sampleRows(),         countedRows(),
        gramRows(),           featureRows(),
        detectionRows(),      microsoftAttentionRows(),
        microsoftLayerRows(), microsoftQuantizedRows()})
    rows.insert(rows.end(), part.begin(), part.end());
  auto keyOf = [](const Operator &row) {
    return std::tuple(domainOf(row), std::string_view(row.name), row.since);
  };
  std::ranges::sort(rows, {}, keyOf);
  return rows;
}

std::span<const Operator> operators() {
  static const auto &rows = *new std::vector<Operator>(allRows());
  return rows;
}

static auto rowsOf(std::string_view domain, std::string_view name) {
  auto keyOf = [](const Operator &row) {
    return std::pair(domainOf(row), std::string_view(row.name));
  };
  return std::ranges::equal_range(operators(), std::pair(domain, name), {},
                                  keyOf);
}

const Operator *findOperator(std::string_view domain, std::string_view name,
                             int64_t opset) {
  for (const Operator &row : rowsOf(domain, name))
    if (row.since <= opset && (row.until == 0 || opset <= row.until))
      return &row;
  return nullptr;
}

bool isInAnotherVersion(std::string_view domain, std::string_view name) {
  return !rowsOf(domain, name).empty();
}

//===- Attributes ---------------------------------------------------------===//

static constexpr std::pair<std::string_view, AttributeType> typeNames[] = {
    {"float", AttributeType::real},    {"int", AttributeType::integer},
    {"string", AttributeType::text},   {"tensor", AttributeType::tensor},
    {"graph", AttributeType::graph},   {"floats", AttributeType::reals},
    {"ints", AttributeType::integers}, {"strings", AttributeType::texts},
    {"type", AttributeType::type},     {"sparse", AttributeType::sparse},
};

std::string_view nameOf(AttributeType type) {
  for (auto [name, own] : typeNames)
    if (own == type)
      return name;
  return "something else";
}

static AttributeType typeNamed(std::string_view text) {
  for (auto [name, type] : typeNames)
    if (name == text)
      return type;
  return AttributeType::undefined;
}

static AttributeSpec specOf(std::string_view word) {
  AttributeSpec spec;
  if (word.ends_with('!')) {
    spec.isRequired = true;
    word.remove_suffix(1);
  }
  size_t colon = word.find(':'), equals = word.find('=');
  spec.name = word.substr(0, colon);
  if (colon != std::string_view::npos)
    spec.type = typeNamed(word.substr(colon + 1, equals - colon - 1));
  if (equals != std::string_view::npos)
    spec.defaultText = word.substr(equals + 1);
  return spec;
}

std::vector<AttributeSpec> attributesOf(const Operator &row) {
  std::vector<AttributeSpec> specs;
  std::string_view rest = row.attributes;
  while (!rest.empty()) {
    size_t end = std::min(rest.find(' '), rest.size());
    if (end != 0)
      specs.push_back(specOf(rest.substr(0, end)));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return specs;
}

//===- The page -----------------------------------------------------------===//

static std::string opsetsOf(const Operator &row) {
  if (row.until == row.since)
    return fmt::format("{}", row.since);
  if (row.until == 0)
    return fmt::format("{} and later", row.since);
  return fmt::format("{} to {}", row.since, row.until);
}

static std::string attributesText(const Operator &row) {
  std::string text;
  for (const AttributeSpec &spec : attributesOf(row)) {
    text += fmt::format("{}`{}` ({}", text.empty() ? "" : ", ", spec.name,
                        nameOf(spec.type));
    if (!spec.defaultText.empty())
      text += fmt::format(", {}", spec.defaultText);
    text += spec.isRequired ? ", required)" : ")";
  }
  return text;
}

std::string operatorsPage() {
  std::map<std::string_view, std::vector<const Operator *>> domains;
  std::map<std::string_view, std::map<std::string_view, int>> names;
  for (const Operator &row : operators()) {
    domains[domainOf(row)].push_back(&row);
    ++names[domainOf(row)][row.name];
  }
  std::string page =
      "# ONNX operators\n\n"
      "What [`sinter/Onnx.h`](../frontend/include/sinter/Onnx.h) understands: "
      "IR versions 3 to 14, opsets 1\nto 28. This page is made of the import "
      "table (`frontend/import/onnx/rules`); a test\ncompares the two. An "
      "operator, a version or an attribute that does not stand here is\nan "
      "error that names it. What a row cannot do with some operands is an "
      "error, too,\nand says why. Tensors are of the dtypes that compute: "
      "`FLOAT`, `DOUBLE`, `FLOAT16`,\n`BFLOAT16`, `BOOL`, `INT8` to `INT64` "
      "and "
      "`UINT8` to `UINT64`; those of 8 bits and fewer\n(`FLOAT8...`, "
      "`FLOAT4E2M1`, `INT4`, `UINT4`, `INT2`, `UINT2`) are cast, quantized,\n"
      "compared and moved; `COMPLEX64` and `COMPLEX128` are moved, added and "
      "multiplied.\n";
  for (const auto &[domain, rows] : domains) {
    page +=
        fmt::format("\n## {} ({} operators)\n\n",
                    domain.empty() ? "ai.onnx" : domain, names[domain].size());
    page += "| operator | opsets | attributes |\n|---|---|---|\n";
    for (const Operator *row : rows)
      page += fmt::format("| {} | {} | {} |\n", row->name, opsetsOf(*row),
                          attributesText(*row));
  }
  return page;
}

} // namespace sinter::onnx
