"""Functions that a default export keeps as a whole, and second names."""

import torch

from torch import nn
from torch.nn import functional as F

from ops.table import A, c, case, f, i, p, positive, unit

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
case("where_positions", lambda x: torch.where(x)[1].sum(), lambda b: [p(b, 4)])
case("fill_diagonal", lambda x: x.clone().fill_diagonal_(2.5),
     lambda b: [f(4, 3)], core=False)
case("fill_diagonal_wrapped",
     lambda x: x.clone().fill_diagonal_(2.5, wrap=True), lambda b: [f(9, 3)],
     core=False)
case("fill_diagonal_cube", lambda x: x.clone().fill_diagonal_(2.5),
     lambda b: [f(3, 3, 3)], core=False)


def write_diagonal(x, y):
    x = x.clone()
    x.diagonal(1, 1, 2).mul_(y)
    return x


case("diagonal_written", write_diagonal, lambda b: [f(b, 3, 4), f(3)])


def write_parts(x, y):
    x = x.clone()
    x.real.mul_(y)
    x.imag.add_(1)
    return x


case("complex_parts_written", write_parts, lambda b: [c(b, 3), f(3)])
case("complex_sgn", torch.sgn, lambda b: [c(b, 3)])
case("log_ndtr", lambda x: torch.special.log_ndtr(x * 12),
     lambda b: [f(b, 5)])
case("vander", lambda x: torch.linalg.vander(x, N=4), lambda b: [unit(b, 3)])
case("mode", lambda x: torch.mode(x, 1)[0], lambda b: [i(3, b, 7)])
case("bincount_weights", torch.bincount, lambda b: [i(5, 9), f(9)])
case("histc_of_range", lambda x: torch.histc(x, 5), lambda b: [f(30)])
case("fake_quantize", lambda x: torch.fake_quantize_per_tensor_affine(
    x, 0.1, 3, -8, 7), lambda b: [f(b, 5)])
case("fake_quantize_channels",
     lambda x, s: torch.fake_quantize_per_channel_affine(
         x, s, torch.tensor([0, 1, -1], dtype=torch.int32), 1, -128, 127),
     lambda b: [f(b, 3), positive(3)])
case("attention_dropout", lambda x: F.scaled_dot_product_attention(
    x, x, x, dropout_p=0.5, is_causal=True), lambda b: [f(b, 2, 5, 4)],
     expect="shapes")
case("tril_bool", torch.tril, lambda b: [p(b, 3, 4)])
case("movedim_rank0", lambda x: torch.movedim(x, (), ()) + 1, lambda b: [f()])
for rows in (6, 12):
    case(f"grouped_products_{rows}",
         lambda x, w, o: A._grouped_mm.default(x, w, o),
         lambda b, rows=rows: [f(rows, 16).bfloat16(), f(4, 16, 8).bfloat16(),
                               torch.tensor([2, 2, 5, rows],
                                            dtype=torch.int32)])


class Left(nn.Module):
    """Layers between which elements are left out."""

    def __init__(self):
        super().__init__()
        self.layers = nn.LSTM(3, 4, num_layers=2, dropout=0.5)

    def forward(self, x):
        return self.layers(x)[0]


case("lstm_dropout", Left().train(), lambda b: [f(5, b, 3)], expect="shapes")
case("adjoint", lambda x: x.mH, lambda b: [c(b, 3, 4)])
case("isreal_complex", torch.isreal, lambda b: [c(b, 3)])
case("cumsum_narrow", lambda x: torch.cumsum(x, 1, dtype=torch.int32),
     lambda b: [i(9, b, 4)])
case("hfft", torch.fft.hfft, lambda b: [c(b, 5)])
case("ihfft", lambda x: torch.fft.ihfft(x, norm="ortho"), lambda b: [f(b, 6)])
case("fftfreq", lambda x: x + torch.fft.fftfreq(5, 0.5), lambda b: [f(b, 5)])
case("diag_embed_axes", lambda x: torch.diag_embed(x, 1, 2, 0),
     lambda b: [f(b, 3)])
case("vander_down", lambda x: torch.vander(x, 3), lambda b: [unit(5)])
case("cumulative_trapezoid", lambda x: torch.cumulative_trapezoid(x, dx=0.5),
     lambda b: [f(b, 5)])
case("quantiles", lambda x: torch.quantile(
    x, torch.tensor([0.1, 0.5, 1.0]), 1, keepdim=True), lambda b: [f(b, 5)])
case("complex_norm", lambda x: torch.linalg.norm(x, dim=1),
     lambda b: [c(b, 3)])
case("erfcx", lambda x: torch.special.erfcx(x * 6), lambda b: [f(b, 5)])
