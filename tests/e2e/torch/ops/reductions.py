"""Reductions, order and running sums."""

import torch

from ops.table import (A, c, case, distinct, f, i, p, positive, special)

case("sum", torch.sum, lambda b: [f(b, 3, 4)])
case("sum_dims", lambda x: A.sum.dim_IntList(x, [0, -1], True),
     lambda b: [f(b, 3, 4)])
case("sum_all_dims", lambda x: A.sum.dim_IntList(x, None), lambda b: [f(b, 3)])
case("sum_no_dims", lambda x: A.sum.dim_IntList(x, []), lambda b: [f(b, 3)])
case("sum_int", lambda x: A.sum.dim_IntList(x, [1]),
     lambda b: [i(9, b, 3).int()])
case("sum_bool", lambda x: x.sum(0), lambda b: [p(b, 3)])
case("sum_dtype", lambda x: x.sum(1, dtype=torch.float64), lambda b: [f(b, 3)])
case("sum_rank0", torch.sum, lambda b: [f()])
case("sum_empty", lambda x: x.sum(1), lambda b: [f(b, 0)])
case("sum_complex", lambda x: x.sum(1), lambda b: [c(b, 3)])
case("nansum", lambda x: torch.nansum(x, 1), lambda b: [special(b, 4)])
case("mean", A.mean.default, lambda b: [f(b, 3)])
case("mean_dim", lambda x: A.mean.dim(x, [1, 2], True), lambda b: [f(b, 3, 4)])
case("mean_none", lambda x: A.mean.dim(x, None), lambda b: [f(b, 3, 4)])
case("mean_int", lambda x: x.mean(0, dtype=torch.float32),
     lambda b: [i(9, b, 3)])
case("prod", A.prod.default, lambda b: [positive(b, 3)])
case("prod_dim", lambda x: A.prod.dim_int(x, -1, True), lambda b: [f(b, 3)])
case("prod_int", A.prod.default, lambda b: [i(3, b, 3, low=1)])
case("amax", lambda x: A.amax.default(x, [0, 1]), lambda b: [f(b, 3, 4)])
case("amin_keep", lambda x: A.amin.default(x, [1], True),
     lambda b: [f(b, 3, 4)])
case("amax_all", A.amax.default, lambda b: [special(b, 4)])
case("amin_int", lambda x: A.amin.default(x, [-1]), lambda b: [i(9, b, 3)])
case("max_all", torch.max, lambda b: [f(b, 3)])
case("min_all", torch.min, lambda b: [f(b, 3)])
case("max_dim", lambda x: A.max.dim(x, 1), lambda b: [distinct(b, 3, 2)])
case("max_dim_ties", lambda x: A.max.dim(x, -1, True),
     lambda b: [i(3, b, 6).float()])
case("min_dim", lambda x: A.min.dim(x, 0), lambda b: [distinct(b, 3)])
case("max_dim_nan", lambda x: A.max.dim(x, 0), lambda b: [special(b, 4)])
case("max_dim_int", lambda x: A.max.dim(x, 1), lambda b: [i(90, b, 3)])
case("argmax", A.argmax.default, lambda b: [distinct(b, 3)])
case("argmax_dim", lambda x: A.argmax.default(x, 1), lambda b: [f(b, 5)])
case("argmin_keep", lambda x: A.argmin.default(x, 0, True),
     lambda b: [f(b, 5)])
case("argmax_ties", lambda x: A.argmax.default(x, 1),
     lambda b: [i(2, b, 9).float()])
case("argmin_all", A.argmin.default, lambda b: [distinct(b, 3)])
case("any", A.any.default, lambda b: [p(b, 3)])
case("any_float", A.any.default, lambda b: [torch.zeros(b, 3)])
case("any_dim", lambda x: A.any.dim(x, 1), lambda b: [p(b, 3)])
case("any_dims", lambda x: A.any.dims(x, [0, 2], True),
     lambda b: [p(b, 3, 2)])
case("any_dims_none", lambda x: A.any.dims(x, None), lambda b: [p(b, 3, 2)])
case("all", torch.all, lambda b: [p(b, 3)])
case("all_dim", lambda x: torch.all(x, 1), lambda b: [i(3, b, 3)])
case("var_dim", lambda x: A.var.dim(x, [1]), lambda b: [f(b, 5)])
case("var_biased", lambda x: A.var.dim(x, [0, 1], False, True),
     lambda b: [f(b, 5)])
case("var_correction", lambda x: A.var.correction(x, [1], correction=2),
     lambda b: [f(b, 5)])
case("var_all", lambda x: torch.var(x), lambda b: [f(b, 5)])
case("std", lambda x: torch.std(x, 1), lambda b: [f(b, 5)])
case("std_mean", lambda x: torch.std_mean(x, (0, 1)), lambda b: [f(b, 5)])
case("var_mean", lambda x: torch.var_mean(x, 1, correction=0, keepdim=True),
     lambda b: [f(b, 5)])
case("norm", lambda x: torch.norm(x), lambda b: [f(b, 5)])
case("norm_1", lambda x: torch.norm(x, 1, dim=1), lambda b: [f(b, 5)])
case("vector_norm", lambda x: torch.linalg.vector_norm(x, 3, 1, True),
     lambda b: [f(b, 5)])
case("vector_norm_inf",
     lambda x: torch.linalg.vector_norm(x, float("inf"), 0),
     lambda b: [f(b, 5)])
case("vector_norm_0", lambda x: torch.linalg.vector_norm(x, 0, 1),
     lambda b: [f(b, 5).round()])
case("normalize", lambda x: torch.nn.functional.normalize(x, dim=1),
     lambda b: [f(b, 5)])
case("logsumexp", lambda x: torch.logsumexp(x, 1), lambda b: [f(b, 5) * 9])
case("median", lambda x: torch.median(x, 1), lambda b: [distinct(b, 5)])
case("count_nonzero", lambda x: torch.count_nonzero(x, 1),
     lambda b: [i(2, b, 5)])
case("cumsum", lambda x: A.cumsum.default(x, 1), lambda b: [f(b, 5)])
case("cumsum_0", lambda x: A.cumsum.default(x, -2), lambda b: [f(b, 5)])
case("cumsum_bool", lambda x: A.cumsum.default(x, 1), lambda b: [p(b, 5)])
case("cumsum_dtype",
     lambda x: A.cumsum.default(x, 0, dtype=torch.float64),
     lambda b: [f(b, 5)])
case("cumprod", lambda x: torch.cumprod(x, 1), lambda b: [f(b, 5)])
case("cummax", lambda x: torch.cummax(x, 1), lambda b: [distinct(b, 5)])
case("cummin", lambda x: torch.cummin(x, 0), lambda b: [distinct(b, 5)])
case("logcumsumexp", lambda x: torch.logcumsumexp(x, 1), lambda b: [f(b, 5)])
case("diff", lambda x: torch.diff(x, dim=1), lambda b: [f(b, 5)])
case("trace", torch.trace, lambda b: [f(4, 5)])
case("dist", torch.dist, lambda b: [f(b, 5), f(b, 5)])
case("cosine_similarity", torch.cosine_similarity,
     lambda b: [f(b, 5), f(b, 5)])
case("pairwise_distance", torch.nn.functional.pairwise_distance,
     lambda b: [f(b, 5), f(b, 5)])
for power in (1.0, 2.0, float("inf"), 3.0, 0.0):
    case(f"cdist_{power}",
         lambda x, y, power=power: A._cdist_forward.default(x, y, power, None),
         lambda b: [f(b, 5), f(4, 5)])
case("cdist", torch.cdist, lambda b: [f(2, b, 5), f(2, 4, 5)])
case("pdist", A._pdist_forward.default, lambda b: [f(5, 3)])
case("pdist_1", lambda x: A._pdist_forward.default(x, 1.0), lambda b: [f(5, 3)])
case("bincount", lambda x: torch.bincount(x, minlength=8),
     lambda b: [torch.arange(8)], expect="equal")
case("histc", lambda x: torch.histc(x, 5, -2.0, 2.0), lambda b: [f(9)])

#===- Order ----------------------------------------------------------------===#

case("sort", A.sort.default, lambda b: [distinct(b, 5)])
case("sort_descending", lambda x: A.sort.default(x, 0, True),
     lambda b: [distinct(b, 5)])
case("sort_stable", lambda x: torch.sort(x, dim=1, stable=True),
     lambda b: [i(3, b, 9)])
case("sort_stable_down",
     lambda x: torch.sort(x, dim=1, stable=True, descending=True),
     lambda b: [i(3, b, 9).float()])
case("sort_nan", lambda x: A.sort.default(x, 1)[0], lambda b: [special(b, 4)])
case("sort_int", A.sort.default, lambda b: [torch.randperm(b * 4)
                                            .reshape(b, 4)])
case("argsort", lambda x: torch.argsort(x, 1), lambda b: [distinct(b, 5)])
case("topk", lambda x: A.topk.default(x, 2), lambda b: [distinct(b, 5)])
case("topk_smallest", lambda x: A.topk.default(x, 2, 0, False),
     lambda b: [distinct(b, 5)])
case("topk_all", lambda x: A.topk.default(x, 5, 1, True, True),
     lambda b: [distinct(b, 5)])
case("topk_int", lambda x: torch.topk(x, 3, 1)[0], lambda b: [i(9, b, 5)])
case("kthvalue", lambda x: torch.kthvalue(x, 2, 1), lambda b: [distinct(b, 5)])
case("searchsorted", torch.searchsorted,
     lambda b: [torch.arange(9.0), f(b, 5) * 3])
case("searchsorted_right",
     lambda x, y: torch.searchsorted(x, y, right=True, out_int32=True),
     lambda b: [torch.arange(9), i(10, b, 5)])
case("bucketize", torch.bucketize, lambda b: [f(b, 5) * 3,
                                              torch.arange(-2.0, 2.0)])
case("unique", lambda x: torch.unique(x), lambda b: [i(5, 9)])
case("quantile", lambda x: torch.quantile(x, 0.3, 1), lambda b: [f(b, 5)])
case("renorm", lambda x: torch.renorm(x, 2, 0, 1.0), lambda b: [f(b, 5)])
