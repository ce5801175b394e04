/// CheckNesting: whether a text can be parsed with the stack that there is.
#pragma once

#include "sinter/runtime/Result.h"

#include <string_view>

namespace sinter::compiler {

/// MLIR's parser calls itself for each bracket in a bracket and for each term
/// of an affine expression, and what reads attributes follows aliases of
/// aliases. An error of kind `invalid_argument` names the line of a text where
/// that is more than anybody writes. Needs time for the text's length only; of
/// a text that is no MLIR it may say nothing, as the parser does.
Status checkNesting(std::string_view text);

} // namespace sinter::compiler
