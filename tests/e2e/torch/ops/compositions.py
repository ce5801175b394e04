"""Functions that a default export keeps as a whole, and second names."""

import torch

from ops.table import A, case, f, i, positive, unit

for each in ("arccos", "arcsin", "arctanh"):
    case(each, getattr(torch, each), lambda b: [unit(b, 3)])
for each in ("greater", "less_equal", "not_equal"):
    case(each, getattr(torch, each), lambda b: [f(b, 3), f(3)])
for each in ("multiply", "subtract", "divide", "true_divide"):
    case(each, getattr(torch, each), lambda b: [f(b, 3), positive(3)])
case("concatenate", lambda x, y: torch.concatenate([x, y], 1),
     lambda b: [f(b, 3), f(b, 2)])
case("vstack", lambda x, y: torch.vstack([x, y]), lambda b: [f(b, 3), f(3)])
case("dstack", lambda x, y: torch.dstack([x, y]), lambda b: [f(b, 3), f(b, 3)])
case("column_stack", lambda x, y: torch.column_stack([x, y]),
     lambda b: [f(4), f(4, 2)])
case("broadcast_to", lambda x: torch.broadcast_to(x, (2, 4, 3)),
     lambda b: [f(4, 1)])
case("permute_copy", lambda x: A.permute_copy.default(x, [1, 0]).add_(1) + x.t(),
     lambda b: [f(b, 3)])
case("select_copy", lambda x: A.select_copy.int(x, 1, 0).add_(1) + x[:, 0],
     lambda b: [f(b, 3)])
case("split_copy", lambda x: A.split_copy.Tensor(x, 2, 1), lambda b: [f(b, 6)])
case("reshape_as", lambda x, y: x.reshape_as(y), lambda b: [f(b, 6), f(b, 2, 3)])
case("view_as", lambda x, y: x.view_as(y).mul_(2) + x.view_as(y),
     lambda b: [f(b, 6), f(b, 2, 3)])
case("atleast_2d", torch.atleast_2d, lambda b: [f(3)])
case("atleast_3d", torch.atleast_3d, lambda b: [f(b, 3)])
case("hsplit", lambda x: torch.hsplit(x, 3), lambda b: [f(b, 6)])
case("vsplit", lambda x: torch.vsplit(x, [1, 2]), lambda b: [f(4, 6)])
case("dsplit", lambda x: torch.dsplit(x, 2), lambda b: [f(b, 2, 4)])
case("fliplr", torch.fliplr, lambda b: [f(b, 4)])
case("block_diag", lambda x, y: torch.block_diag(x, y),
     lambda b: [f(2, 3), f(3)])
case("diagflat", lambda x: torch.diagflat(x, 1), lambda b: [f(2, 2)])
case("cartesian_prod", torch.cartesian_prod, lambda b: [f(3), f(2)])
case("repeat_interleave_counts",
     lambda x: torch.repeat_interleave(x, torch.tensor([2, 0, 1]), dim=1,
                                       output_size=3), lambda b: [f(b, 3)])
case("inner", torch.inner, lambda b: [f(b, 3), f(4, 3)])
case("vecdot", torch.linalg.vecdot, lambda b: [f(b, 3), f(b, 3)])
case("vdot", torch.vdot, lambda b: [f(4), f(4)])
case("multi_dot", lambda x, y, z: torch.linalg.multi_dot([x, y, z]),
     lambda b: [f(b, 3), f(3, 4), f(4, 2)])
case("linalg_diagonal", torch.linalg.diagonal, lambda b: [f(b, 3, 4)])
case("linalg_norm", lambda x: torch.linalg.norm(x, dim=1), lambda b: [f(b, 3)])
case("matrix_norm_fro", torch.linalg.matrix_norm, lambda b: [f(b, 3, 4)])
case("matrix_norm_1", lambda x: torch.linalg.matrix_norm(x, 1),
     lambda b: [f(b, 3, 4)])
case("matrix_norm_inf", lambda x: torch.linalg.norm(x, -float("inf")),
     lambda b: [f(3, 4)])
case("cov", torch.cov, lambda b: [f(3, 9)])
case("corrcoef", torch.corrcoef, lambda b: [f(3, 9)])
case("entropy", torch.special.entr, lambda b: [f(b, 3)])
case("ndtr", torch.special.ndtr, lambda b: [f(b, 3)])
case("xlog1py", torch.special.xlog1py, lambda b: [f(b, 3), positive(b, 3)])
case("expit", torch.special.expit, lambda b: [f(b, 3)])
case("trapezoid", lambda x: torch.trapezoid(x, dx=0.5), lambda b: [f(b, 5)])
case("trapezoid_places", lambda x, y: torch.trapezoid(x, y),
     lambda b: [f(b, 5), torch.arange(5.0)])
case("hann_window", lambda x: x * torch.hann_window(5), lambda b: [f(b, 5)])
case("hamming_window", lambda x: x * torch.hamming_window(5),
     lambda b: [f(b, 5)])
case("logspace", lambda x: x * torch.logspace(0, 2, 5), lambda b: [f(b, 5)])
case("sum_to_size", lambda x: x.sum_to_size(1, 3), lambda b: [f(b, 3)])
case("narrow_copy", lambda x: A.narrow_copy.default(x, 1, 1, 2),
     lambda b: [f(b, 4)])
case("bitwise_scalar_left", lambda x: torch.bitwise_and(6, x),
     lambda b: [i(9, b, 3)])
case("geometric", lambda x: torch.empty_like(x).geometric_(0.3),
     lambda b: [f(b, 3)], expect="shapes")
case("cauchy", lambda x: torch.empty_like(x).cauchy_(), lambda b: [f(b, 3)],
     expect="shapes")
case("log_normal", lambda x: torch.empty_like(x).log_normal_(),
     lambda b: [f(b, 3)], expect="shapes")
case("unique_consecutive", torch.unique_consecutive,
     lambda b: [torch.tensor([1, 1, 2, 2, 2, 1])])
case("index_reduce", lambda x, j, v: torch.index_reduce(
    x, 0, j, v, "amax"), lambda b: [f(6, 3), i(6, b), f(b, 3)])
case("put", lambda x, j, v: torch.Tensor.put(x, j, v),
     lambda b: [f(3, 4), torch.tensor([1, 5, 11]), f(3)])
case("multilabel_margin", torch.nn.functional.multilabel_margin_loss,
     lambda b: [f(b, 4), torch.tensor([[3, 0, -1, 1]]).expand(b, 4)
                .contiguous()])
case("nanmedian", lambda x: torch.nanmedian(x, 1), lambda b: [
    torch.randn(b, 5)])
case("dropout2d_eval", lambda x: torch.nn.functional.dropout2d(x, 0.5, False),
     lambda b: [f(b, 3, 2, 2)])
