/// Second names of operators.
#include "frontend/import/torch/Operators.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sinter::torch {

using Pair = std::pair<std::string_view, std::string_view>;

static constexpr Pair names[] = {
    {"aten.arccos", "aten.acos"},
    {"aten.arccosh", "aten.acosh"},
    {"aten.arcsin", "aten.asin"},
    {"aten.arcsinh", "aten.asinh"},
    {"aten.arctan", "aten.atan"},
    {"aten.arctan2", "aten.atan2"},
    {"aten.arctanh", "aten.atanh"},
    {"aten.broadcast_to", "aten.expand"},
    {"aten.clip", "aten.clamp"},
    {"aten.concat", "aten.cat"},
    {"aten.concatenate", "aten.cat"},
    {"aten.divide", "aten.div"},
    {"aten.greater", "aten.gt"},
    {"aten.greater_equal", "aten.ge"},
    {"aten.less", "aten.lt"},
    {"aten.less_equal", "aten.le"},
    {"aten.linalg_matmul", "aten.matmul"},
    {"aten.mH", "aten.adjoint"},
    {"aten.matrix_H", "aten.adjoint"},
    {"aten.moveaxis", "aten.movedim"},
    {"aten.multiply", "aten.mul"},
    {"aten.not_equal", "aten.ne"},
    {"aten.row_stack", "aten.vstack"},
    {"aten.special_digamma", "aten.digamma"},
    {"aten.special_erf", "aten.erf"},
    {"aten.special_erfc", "aten.erfc"},
    {"aten.special_erfinv", "aten.erfinv"},
    {"aten.special_exp2", "aten.exp2"},
    {"aten.special_expit", "aten.sigmoid"},
    {"aten.special_expm1", "aten.expm1"},
    {"aten.special_gammaln", "aten.lgamma"},
    {"aten.special_log1p", "aten.log1p"},
    {"aten.special_log_softmax", "aten.log_softmax"},
    {"aten.special_logit", "aten.logit"},
    {"aten.special_logsumexp", "aten.logsumexp"},
    {"aten.special_psi", "aten.digamma"},
    {"aten.special_round", "aten.round"},
    {"aten.special_sinc", "aten.sinc"},
    {"aten.special_softmax", "aten.softmax"},
    {"aten.special_xlogy", "aten.xlogy"},
    {"aten.subtract", "aten.sub"},
    {"aten.true_divide", "aten.div"},
};
static_assert(std::ranges::is_sorted(names, {}, &Pair::first));

std::string_view otherName(std::string_view name) {
  const Pair *found = std::ranges::lower_bound(names, name, {}, &Pair::first);
  return found != std::end(names) && found->first == name ? found->second
                                                          : std::string_view();
}

} // namespace sinter::torch
