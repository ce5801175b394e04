/// ModelMutator: alters ONNX models field by field, so that most results are
/// well formed messages and no models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::onnx_test {

/// Alters one to four fields of a ModelProto: they are removed, repeated,
/// exchanged, given other numbers, letters or names of values, cut, or taken
/// from `other`, a second model. Lengths fit again. The same arguments give the
/// same result; what is no message comes back as it is.
std::string mutateModel(std::string_view model, std::string_view other,
                        uint64_t seed);

} // namespace sinter::onnx_test
