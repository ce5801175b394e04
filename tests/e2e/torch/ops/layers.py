"""Contractions, convolutions, normalizations, attention, recurrences."""

import torch
from torch import nn
from torch.nn import functional as F

from ops.table import A, c, case, d, f, i, p, positive

#===- Products -------------------------------------------------------------===#

case("mm", A.mm.default, lambda b: [f(b, 3), f(3, 4)])
case("bmm", A.bmm.default, lambda b: [f(b, 2, 3), f(b, 3, 4)])
case("addmm", A.addmm.default, lambda b: [f(4), f(b, 3), f(3, 4)])
case("addmm_scaled",
     lambda x, y, z: A.addmm.default(x, y, z, beta=0.5, alpha=2),
     lambda b: [f(b, 4), f(b, 3), f(3, 4)])
case("addmm_beta_zero", lambda x, y, z: A.addmm.default(x, y, z, beta=0),
     lambda b: [torch.full((4,), float("nan")), f(b, 3), f(3, 4)])
case("baddbmm", torch.baddbmm, lambda b: [f(b, 2, 4), f(b, 2, 3), f(b, 3, 4)])
case("addbmm", torch.addbmm, lambda b: [f(2, 4), f(b, 2, 3), f(b, 3, 4)])
case("addmv", torch.addmv, lambda b: [f(b), f(b, 3), f(3)])
case("addr", torch.addr, lambda b: [f(b, 3), f(b), f(3)])
case("dot", torch.dot, lambda b: [f(5), f(5)])
case("mv", torch.mv, lambda b: [f(b, 3), f(3)])
case("outer", torch.outer, lambda b: [f(b), f(3)])
case("matmul_broadcast", torch.matmul, lambda b: [f(b, 1, 2, 3), f(4, 3, 5)])
case("matmul_vector", torch.matmul, lambda b: [f(b, 2, 3), f(3)])
case("matmul_int", torch.matmul, lambda b: [i(9, b, 3), i(9, 3, 2)])
case("linear", F.linear, lambda b: [f(b, 3), f(4, 3), f(4)])
case("linear_plain", F.linear, lambda b: [f(2, b, 3), f(4, 3)])
case("linear_vector", F.linear, lambda b: [f(3), f(4, 3), f(4)])
case("bilinear", F.bilinear, lambda b: [f(b, 3), f(b, 4), f(2, 3, 4), f(2)])
case("einsum", lambda x, y: torch.einsum("bij,bkj->bik", x, y),
     lambda b: [f(b, 2, 3), f(b, 4, 3)])
case("einsum_trace", lambda x: torch.einsum("bii->b", x),
     lambda b: [f(b, 3, 3)])
case("einsum_dots", lambda x, y: torch.einsum("...i,ij->...j", x, y),
     lambda b: [f(b, 2, 3), f(3, 4)])
case("tensordot", lambda x, y: torch.tensordot(x, y, 2),
     lambda b: [f(b, 3, 4), f(3, 4, 2)])
case("kron", torch.kron, lambda b: [f(b, 2), f(2, 3)])
case("cross", lambda x, y: torch.linalg.cross(x, y),
     lambda b: [f(b, 3), f(b, 3)])
case("matrix_power", lambda x: torch.linalg.matrix_power(x, 3),
     lambda b: [f(b, 3, 3)])
for each in ("inv", "det", "cholesky"):
    case("linalg_" + each, getattr(torch.linalg, each),
         lambda b: [torch.eye(3) * 4 + positive(b, 1, 1)])
case("linalg_solve", torch.linalg.solve,
     lambda b: [torch.eye(3) * 4 + torch.rand(b, 3, 3), f(b, 3, 2)])
case("triangular_solve",
     lambda x, y: torch.linalg.solve_triangular(x.tril(), y, upper=False),
     lambda b: [torch.eye(3) * 4 + torch.rand(b, 3, 3), f(b, 3, 2)])

#===- Convolutions ---------------------------------------------------------===#

case("conv1d", F.conv1d, lambda b: [f(b, 3, 9), f(4, 3, 3), f(4)])
case("conv2d", F.conv2d, lambda b: [f(b, 3, 7, 6), f(4, 3, 3, 2), f(4)])
case("conv2d_options",
     lambda x, w: F.conv2d(x, w, None, (2, 1), (1, 2), (1, 2), 2),
     lambda b: [f(b, 4, 7, 8), f(6, 2, 3, 2)])
case("conv2d_depthwise", lambda x, w: F.conv2d(x, w, padding=1, groups=4),
     lambda b: [f(b, 4, 6, 6), f(8, 1, 3, 3)])
case("conv2d_same", lambda x, w: F.conv2d(x, w, padding="same", dilation=2),
     lambda b: [f(b, 3, 7, 8), f(4, 3, 4, 3)])
case("conv2d_valid", lambda x, w: F.conv2d(x, w, padding="valid"),
     lambda b: [f(b, 3, 7, 8), f(4, 3, 4, 3)])
case("conv2d_unbatched", F.conv2d, lambda b: [f(3, 7, 6), f(4, 3, 3, 2), f(4)])
case("conv3d", F.conv3d, lambda b: [f(b, 2, 4, 5, 6), f(3, 2, 2, 3, 3), f(3)])
case("conv_sizes", lambda x, w: F.conv2d(x, w, stride=2),
     lambda b: [f(1, 3, 2 * b + 4, b + 5), f(4, 3, 3, 3)])
case("conv_transpose1d", lambda x, w: F.conv_transpose1d(
    x, w, stride=3, output_padding=1), lambda b: [f(b, 3, 5), f(3, 4, 4)])
case("conv_transpose2d", lambda x, w, v: F.conv_transpose2d(
    x, w, v, (2, 1), (1, 0), (1, 0), 1, (1, 2)),
    lambda b: [f(b, 3, 4, 5), f(3, 4, 3, 2), f(4)])
case("conv_transpose2d_groups",
     lambda x, w: F.conv_transpose2d(x, w, stride=2, groups=2),
     lambda b: [f(b, 4, 4, 5), f(4, 3, 3, 2)])
case("conv_transpose3d", F.conv_transpose3d,
     lambda b: [f(b, 2, 3, 2, 3), f(2, 3, 2, 2, 2)])
case("convolution", lambda x, w, v: A.convolution.default(
    x, w, v, [2], [1], [1], False, [0], 1),
    lambda b: [f(b, 3, 9), f(4, 3, 3), f(4)])
case("convolution_transposed", lambda x, w: A.convolution.default(
    x, w, None, [2, 2], [1, 1], [1, 1], True, [1, 1], 2),
    lambda b: [f(b, 4, 4, 5), f(4, 3, 3, 3)])
case("convolution_backward",
     lambda g, x, w: A.convolution_backward.default(
         g, x, w, [4], [1, 1], [1, 1], [1, 1], False, [0, 0], 1,
         [True, True, True]),
     lambda b: [f(b, 4, 5, 6), f(b, 3, 5, 6), f(4, 3, 3, 3)])
case("convolution_backward_strided",
     lambda g, x, w: A.convolution_backward.default(
         g, x, w, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 2,
         [True, True, False])[:2],
     lambda b: [f(b, 4, 3, 3), f(b, 4, 5, 6), f(4, 2, 3, 3)])
case("unfold", lambda x: F.unfold(x, (2, 3), 1, 1, 2),
     lambda b: [f(b, 3, 6, 7)])
case("fold", lambda x: F.fold(x, (5, 6), (2, 3)), lambda b: [f(b, 12, 16)])
case("col2im", lambda x: A.col2im.default(
    x, [5, 6], [2, 2], [1, 1], [1, 0], [2, 1]), lambda b: [f(b, 12, 15)])

#===- Normalizations -------------------------------------------------------===#


def norm_inputs(b):
    return [f(b, 3, 4, 5), positive(3), f(3), f(3), positive(3)]


case("batch_norm", lambda x, w, v, m, s: F.batch_norm(x, m, s, w, v),
     norm_inputs)
case("batch_norm_plain", lambda x, w, v, m, s: F.batch_norm(x, m, s, eps=1e-2),
     norm_inputs)
case("batch_norm_2d", lambda x, m, s: F.batch_norm(x, m, s),
     lambda b: [f(b, 3), f(3), positive(3)])
case("batch_norm_train",
     lambda x: F.batch_norm(x, None, None, training=True),
     lambda b: [f(b, 3, 4)])
case("batch_norm_legit", lambda x, w, v, m, s:
     A._native_batch_norm_legit.default(x, w, v, m.clone(), s.clone(), True,
                                        0.1, 1e-5), norm_inputs)
case("batch_norm_no_stats", lambda x, w, v, m, s:
     A._native_batch_norm_legit.no_stats(x, w, v, True, 0.1, 1e-5),
     norm_inputs)
case("batch_norm_no_training", lambda x, w, v, m, s:
     A._native_batch_norm_legit_no_training.default(
         x, w, v, m, s, 0.1, 1e-5)[0], norm_inputs)
case("batch_norm_functional", lambda x, w, v, m, s:
     A._native_batch_norm_legit_functional.default(
         x, w, v, m, s, True, 0.3, 1e-5), norm_inputs)
case("layer_norm", lambda x, w, v: F.layer_norm(x, (4,), w, v),
     lambda b: [f(b, 3, 4), f(4), f(4)])
case("layer_norm_2", lambda x, w: F.layer_norm(x, (3, 4), w, eps=1e-3),
     lambda b: [f(b, 3, 4), f(3, 4)])
case("layer_norm_plain", lambda x: F.layer_norm(x, (4,)), lambda b: [f(b, 4)])
case("native_layer_norm",
     lambda x, w, v: A.native_layer_norm.default(x, [4], w, v, 1e-5),
     lambda b: [f(b, 3, 4), f(4), f(4)])
case("native_layer_norm_backward",
     lambda g, x, m, s, w, v: A.native_layer_norm_backward.default(
         g, x, [4], m, s, w, v, [True, True, True]),
     lambda b: [f(b, 3, 4), f(b, 3, 4), f(b, 3, 1), positive(b, 3, 1), f(4),
                f(4)])
case("group_norm", lambda x, w, v: F.group_norm(x, 2, w, v),
     lambda b: [f(b, 4, 5), f(4), f(4)])
case("native_group_norm", lambda x, w, v: A.native_group_norm.default(
    x, w, v, x.shape[0], 4, 15, 2, 1e-5),
    lambda b: [f(b, 4, 5, 3), f(4), f(4)])
case("native_group_norm_backward",
     lambda g, x, m, s, w: A.native_group_norm_backward.default(
         g, x, m, s, w, x.shape[0], 4, 5, 2, [True, True, True]),
     lambda b: [f(b, 4, 5), f(b, 4, 5), f(b, 2), positive(b, 2), f(4)])
case("instance_norm", lambda x, w, v: F.instance_norm(x, None, None, w, v),
     lambda b: [f(b, 3, 4, 5), f(3), f(3)])
case("rms_norm", lambda x, w: F.rms_norm(x, (4,), w, 1e-5),
     lambda b: [f(b, 3, 4), f(4)])
case("rms_norm_eps", lambda x: F.rms_norm(x, (3, 4)), lambda b: [f(b, 3, 4)])
case("local_response_norm", lambda x: F.local_response_norm(x, 3),
     lambda b: [f(b, 5, 4, 4)])
case("weight_norm", lambda v, g: torch._weight_norm(v, g, 0),
     lambda b: [f(4, 3), positive(4, 1)])
case("dropout_eval", lambda x: F.dropout(x, 0.5, False), lambda b: [f(b, 3)])
case("dropout_p0", lambda x: F.dropout(x, 0.0, True), lambda b: [f(b, 3)])
case("native_dropout_eval",
     lambda x: A.native_dropout.default(x, 0.5, False), lambda b: [f(b, 3)])
case("native_dropout_p0", lambda x: A.native_dropout.default(x, 0.0, True),
     lambda b: [f(b, 3)])
case("native_dropout", lambda x: A.native_dropout.default(x, 0.5, True),
     lambda b: [f(b, 3)], expect="shapes")
case("dropout_train", lambda x: F.dropout(x, 0.5, True), lambda b: [f(b, 3)],
     expect="shapes")
case("alpha_dropout_eval", lambda x: F.alpha_dropout(x, 0.5, False),
     lambda b: [f(b, 3)])

#===- Attention ------------------------------------------------------------===#


def heads(b, lengths=(5, 5, 5)):
    return [f(b, 2, length, 4) for length in lengths]


SDPA = F.scaled_dot_product_attention
case("sdpa", SDPA, heads)
case("sdpa_causal", lambda q, k, v: SDPA(q, k, v, is_causal=True), heads)
case("sdpa_causal_longer", lambda q, k, v: SDPA(q, k, v, is_causal=True),
     lambda b: heads(b, (3, 6, 6)))
case("sdpa_mask", lambda q, k, v, m: SDPA(q, k, v, m),
     lambda b: heads(b) + [f(b, 1, 5, 5)])
case("sdpa_bool_mask", lambda q, k, v, m: SDPA(q, k, v, m),
     lambda b: heads(b) + [p(5, 5) | torch.eye(5, dtype=torch.bool)])
case("sdpa_scale", lambda q, k, v: SDPA(q, k, v, scale=0.3), heads)
case("sdpa_groups", lambda q, k, v: SDPA(q, k, v, enable_gqa=True),
     lambda b: [f(b, 4, 5, 4), f(b, 2, 5, 4), f(b, 2, 5, 4)])
case("sdpa_rank3", SDPA, lambda b: [f(b, 5, 4), f(b, 6, 4), f(b, 6, 3)])
case("sdpa_length", SDPA, lambda b: [f(2, 2, b, 4), f(2, 2, b, 4),
                                     f(2, 2, b, 4)])


class Attention(nn.Module):
    def __init__(self, batch_first):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=batch_first)

    def forward(self, x, y):
        return self.attention(x, y, y)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0,
                                                batch_first=True)

    def forward(self, x):
        return self.layer(x)


case("multihead_attention", Attention(True), lambda b: [f(b, 5, 8), f(b, 3, 8)])
case("multihead_attention_second", Attention(False),
     lambda b: [f(5, b, 8), f(3, b, 8)])
case("transformer_encoder_layer", Encoder().train(), lambda b: [f(b, 5, 8)])
case("transformer_encoder_fast", Encoder().eval(), lambda b: [f(b, 5, 8)])

#===- Recurrences ----------------------------------------------------------===#


class Recurrence(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.cells = kind(3, 4, **options)

    def forward(self, x, *state):
        return self.cells(x, *state)


case("lstm", Recurrence(nn.LSTM, batch_first=True), lambda b: [f(b, 5, 3)])
case("lstm_state", Recurrence(nn.LSTM), lambda b: [
    f(5, b, 3), (f(1, b, 4), f(1, b, 4))])
case("lstm_two_ways", Recurrence(nn.LSTM, num_layers=2, bidirectional=True),
     lambda b: [f(5, b, 3)])
case("lstm_projected", Recurrence(nn.LSTM, proj_size=2), lambda b: [f(5, b, 3)])
case("lstm_no_bias", Recurrence(nn.LSTM, bias=False), lambda b: [f(5, b, 3)])
case("gru", Recurrence(nn.GRU, batch_first=True), lambda b: [f(b, 5, 3)])
case("gru_two_ways", Recurrence(nn.GRU, num_layers=2, bidirectional=True),
     lambda b: [f(5, b, 3), f(4, b, 4)])
case("rnn_tanh", Recurrence(nn.RNN), lambda b: [f(5, b, 3)])
case("rnn_relu", Recurrence(nn.RNN, nonlinearity="relu", bidirectional=True),
     lambda b: [f(5, b, 3)])
case("lstm_cell", Recurrence(nn.LSTMCell), lambda b: [f(b, 3)])
case("gru_cell", Recurrence(nn.GRUCell), lambda b: [f(b, 3), f(b, 4)])
case("rnn_cell", Recurrence(nn.RNNCell), lambda b: [f(b, 3)])

#===- Losses ---------------------------------------------------------------===#

for each in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
             "soft_margin_loss", "kl_div", "poisson_nll_loss",
             "binary_cross_entropy_with_logits"):
    case(each, getattr(F, each), lambda b: [f(b, 4), p(b, 4).float()])
    case(each + "_none",
         lambda x, y, loss=getattr(F, each): loss(x, y, reduction="none"),
         lambda b: [f(b, 4), p(b, 4).float()])
case("binary_cross_entropy", F.binary_cross_entropy,
     lambda b: [torch.rand(b, 4), torch.rand(b, 4)])
case("bce_weights", lambda x, y, w, q: F.binary_cross_entropy_with_logits(
    x, y, w, pos_weight=q), lambda b: [f(b, 4), torch.rand(b, 4), positive(4),
                                       positive(4)])
case("cross_entropy", F.cross_entropy, lambda b: [f(b, 5), i(5, b)])
case("cross_entropy_smooth", lambda x, y, w: F.cross_entropy(
    x, y, w, ignore_index=1, label_smoothing=0.1),
    lambda b: [f(b, 5), i(5, b), positive(5)])
case("cross_entropy_shares", F.cross_entropy,
     lambda b: [f(b, 5), torch.softmax(f(b, 5), 1)])
case("cross_entropy_space", lambda x, y: F.cross_entropy(x, y, reduction="sum"),
     lambda b: [f(b, 5, 3, 2), i(5, b, 3, 2)])
case("nll_loss", F.nll_loss, lambda b: [f(b, 5), i(5, b)])
case("nll_loss_none", lambda x, y: F.nll_loss(x, y, reduction="none",
                                              ignore_index=2),
     lambda b: [f(b, 5), i(5, b)])
case("nll_loss2d", F.nll_loss, lambda b: [f(b, 5, 2, 3), i(5, b, 2, 3)])
case("kl_div_batchmean", lambda x, y: F.kl_div(
    x, y, reduction="batchmean", log_target=True),
    lambda b: [f(b, 5), f(b, 5)])
case("hinge_embedding", F.hinge_embedding_loss,
     lambda b: [f(b, 5), p(b, 5).float() * 2 - 1])
case("cosine_embedding", F.cosine_embedding_loss,
     lambda b: [f(b, 5), f(b, 5), p(b).float() * 2 - 1])
case("margin_ranking", F.margin_ranking_loss,
     lambda b: [f(b), f(b), p(b).float() * 2 - 1])
case("triplet_margin", F.triplet_margin_loss,
     lambda b: [f(b, 5), f(b, 5), f(b, 5)])
case("multi_margin", F.multi_margin_loss, lambda b: [f(b, 5), i(5, b)])
case("multilabel_soft_margin", F.multilabel_soft_margin_loss,
     lambda b: [f(b, 5), p(b, 5).float()])
#===- Complex numbers ------------------------------------------------------===#

for each in ("fft", "ifft", "fft2", "ifft2"):
    case("fft_" + each, getattr(torch.fft, each), lambda b: [c(b, 4, 6)])
case("fft_rfft", torch.fft.rfft, lambda b: [f(b, 7)])
case("fft_rfft_ortho", lambda x: torch.fft.rfft(x, 6, norm="ortho"),
     lambda b: [f(b, 7)])
case("fft_irfft", lambda x: torch.fft.irfft(x, 7), lambda b: [c(b, 4)])
case("fft_rfft2", torch.fft.rfft2, lambda b: [f(b, 4, 6)])
case("fft_raw_r2c", lambda x: A._fft_r2c.default(x, [1], 0, True),
     lambda b: [f(b, 6)])
case("fft_raw_r2c_all", lambda x: A._fft_r2c.default(x, [0, 1], 2, False),
     lambda b: [f(4, 6)])
case("fft_raw_c2r", lambda x: A._fft_c2r.default(x, [1], 2, 6),
     lambda b: [c(b, 4)])
case("fft_abs", lambda x: torch.fft.rfft(x).abs(), lambda b: [f(b, 8)])
case("fft_shift", lambda x: torch.fft.fftshift(x), lambda b: [f(4, 6)])
case("fft_double", torch.fft.rfft, lambda b: [d(b, 5)])
case("complex_parts", lambda x: (x.real, x.imag, x.conj(), torch.angle(x)),
     lambda b: [c(b, 4)])
case("complex_make", torch.complex, lambda b: [f(b, 4), f(b, 4)])
case("complex_polar", torch.polar, lambda b: [positive(b, 4), f(b, 4)])
case("complex_matmul", torch.matmul, lambda b: [c(b, 4), c(4, 3)])
case("rotary_complex", lambda x, y: torch.view_as_real(
    torch.view_as_complex(x.reshape(x.shape[0], 3, 2)) * y).flatten(1),
    lambda b: [f(b, 6), c(3)])
case("stft", lambda x, w: torch.view_as_real(torch.stft(
    x, 16, 4, window=w, return_complex=True)), lambda b: [f(b, 64),
                                                          positive(16)])
case("istft", lambda x, w: torch.istft(torch.view_as_complex(x), 16, 4,
                                       window=w),
     lambda b: [f(2, 9, 12, 2), positive(16)])
