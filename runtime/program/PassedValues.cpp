/// Binds what was passed, and reads counts.
#include "runtime/program/PassedValues.h"

#include "runtime/program/ModelError.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

void PassedValues::add(std::vector<Output> outputs) {
  for (Output &output : outputs)
    values.push_back(std::move(output));
  counts.resize(values.size());
}

Result<int64_t> PassedValues::rowsOf(const Output &value, uint32_t count,
                                     Device &device) {
  const Output &number = values[count];
  if (!counts[count]) {
    int64_t read = 0;
    if (number.buffer->bytes() < sizeof(read))
      return brokenModel("a count of rows is no i64");
    SINTER_TRY(device.copyOut(std::as_writable_bytes(std::span(&read, 1)),
                              *number.buffer, 0));
    counts[count] = read;
  }
  int64_t rows = *counts[count];
  if (value.dims.empty() || rows < 0 || rows > value.dims[0])
    return brokenModel("a program counts {} rows of {}", rows,
                       value.dims.empty() ? 0 : value.dims[0]);
  return rows;
}

Status PassedValues::bind(const EntryPoint &entry, std::span<Binding> bindings,
                          Device &device) {
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const EntryInput &input = entry.inputs[i];
    if (input.kind != SlotKind::passed)
      continue;
    const Output &value = values[input.number];
    bindings[i].buffer = value.buffer;
    bindings[i].dims = value.dims;
    if (input.count < 0)
      continue;
    SINTER_TRY_ASSIGN(int64_t rows,
                      rowsOf(value, uint32_t(input.count), device));
    bindings[i].dims[0] = rows;
  }
  return {};
}

Status
sinter::runtime::checkPassedTypes(std::span<const EntryPoint *const> points,
                                  std::span<const Program *const> programs) {
  std::vector<DType> passed, given;
  for (size_t i = 0; i < points.size(); ++i) {
    size_t numGiven = 0;
    for (size_t k = 0; k < points[i]->inputs.size(); ++k) {
      const EntryInput &input = points[i]->inputs[k];
      DType own = programs[i]->inputs()[k].dtype;
      bool fits = true;
      if (input.kind == SlotKind::given) {
        if (i == 0)
          given.push_back(own);
        fits = own == given[numGiven++];
      } else if (input.kind == SlotKind::passed) {
        fits = own == passed[input.number] &&
               (input.count < 0 || passed[size_t(input.count)] == DType::i64);
      }
      if (!fits)
        return brokenModel("input {} of entry '{}' is {}, other programs of "
                           "the entry give or take something else",
                           k, printableName(points[i]->name), name(own));
    }
    for (const Port &output : programs[i]->outputs())
      passed.push_back(output.dtype);
  }
  return {};
}
