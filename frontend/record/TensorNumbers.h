/// TensorNumbers: elements of tensors as numbers of a text.
#pragma once

#include <sinter/record/RecordTree.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter::record {

/// Whether elements of that dtype are numbers of JSON: floats of 16 bits and
/// more, integers of at most 63, bools as 0 and 1.
bool isNumeric(DType dtype);
/// Whether the same elements come back from their numbers: NaN and infinities
/// have none.
bool isExactAsNumbers(const RecordTensor &tensor);
/// The shortest number that becomes the same f64 again; it has a point or an
/// exponent.
void appendReal(std::string &text, double number);
/// Element `index` of a numeric tensor.
void appendElement(std::string &text, const RecordTensor &tensor, size_t index);
/// Stores a number of a text, rounded to the nearest, as an element of a float
/// dtype; false where that has no room for it.
bool setElement(std::span<std::byte> to, DType dtype, std::string_view number);
/// False where the dtype, which is no float, does not have it.
bool setElement(std::span<std::byte> to, DType dtype, int64_t number);

} // namespace sinter::record
