"""Shapes, views, creation, indexes."""

import torch
from torch.nn import functional as F

from ops.table import A, case, d, f, i, p

#===- Views ----------------------------------------------------------------===#

case("alias", lambda x: A.alias.default(x) + 1, lambda b: [f(b, 3)])
case("clone", A.clone.default, lambda b: [f(b, 3)])
case("clone_format",
     lambda x: x.clone(memory_format=torch.channels_last) * 2,
     lambda b: [f(b, 3, 4, 5)])
case("as_strided", lambda x: A.as_strided.default(x, [3, 2], [1, 4], 2),
     lambda b: [f(4, 5)])
case("as_strided_overlap",
     lambda x: A.as_strided.default(x, [4, 3], [1, 1]),
     lambda b: [f(8)])
case("cat", lambda x, y: A.cat.default([x, y], 1),
     lambda b: [f(b, 3), f(b, 2)])
case("cat_batch", lambda x, y: A.cat.default([x, y, x], 0),
     lambda b: [f(b, 3), f(2, 3)])
case("cat_negative", lambda x, y: A.cat.default([x, y], -1),
     lambda b: [f(b, 3, 2), f(b, 3, 1)])
case("cat_promote", lambda x, y: torch.cat([x, y], 1),
     lambda b: [f(b, 3), i(9, b, 2)])
case("cat_one", lambda x: A.cat.default([x]), lambda b: [f(b, 3)])
case("cat_legacy_empty", lambda x: torch.cat([x, torch.empty(0)], 1),
     lambda b: [f(b, 3)])
case("stack", lambda x, y: torch.stack([x, y], 1), lambda b: [f(b, 3), f(b, 3)])
case("hstack", lambda x, y: torch.hstack([x, y]), lambda b: [f(b, 3), f(b, 2)])
case("expand", lambda x: A.expand.default(x, [4, -1, 3]),
     lambda b: [f(b, 1)])
case("expand_as", lambda x, y: x.expand_as(y), lambda b: [f(b, 1), f(b, 4)])
case("expand_rank0", lambda x: x.expand(3, 2), lambda b: [f()])
case("permute", lambda x: A.permute.default(x, [2, 0, -2]),
     lambda b: [f(b, 3, 4)])
case("transpose", lambda x: x.transpose(0, -1), lambda b: [f(b, 3, 4)])
case("t", lambda x: x.t(), lambda b: [f(b, 3)])
case("mT", lambda x: x.mT, lambda b: [f(b, 3, 4)])
case("movedim", lambda x: torch.movedim(x, (0, 1), (2, 0)),
     lambda b: [f(b, 3, 4)])
case("select", lambda x: A.select.int(x, 1, -2), lambda b: [f(b, 3, 4)])
case("slice", lambda x: A.slice.Tensor(x, 1, 1, 9, 2), lambda b: [f(b, 6)])
case("slice_negative", lambda x: x[-2:, :-1], lambda b: [f(b, 6)])
case("slice_end", lambda x: A.slice.Tensor(x, 0, 1, 9223372036854775807),
     lambda b: [f(b, 6)])
case("slice_defaults", lambda x: A.slice.Tensor(x), lambda b: [f(b, 6)])
case("slice_empty", lambda x: x[:, 4:2], lambda b: [f(b, 6)])
case("split_sizes", lambda x: A.split_with_sizes.default(x, [1, 3, 2], 1),
     lambda b: [f(b, 6)])
case("split", lambda x: torch.split(x, 4, -1), lambda b: [f(b, 6)])
case("chunk", lambda x: torch.chunk(x, 4, 1), lambda b: [f(b, 6)])
case("tensor_split", lambda x: torch.tensor_split(x, 4, 1),
     lambda b: [f(b, 6)])
case("unbind", lambda x: torch.unbind(x, 1), lambda b: [f(b, 3)])
case("squeeze", lambda x: torch.squeeze(x), lambda b: [f(3, 1, 2, 1)])
case("squeeze_dim", lambda x: A.squeeze.dim(x, -1), lambda b: [f(b, 3, 1)])
case("squeeze_dim_kept", lambda x: A.squeeze.dim(x, 1), lambda b: [f(b, 3, 1)])
case("squeeze_dims", lambda x: A.squeeze.dims(x, [1, 2]),
     lambda b: [f(b, 1, 3, 1)])
case("unsqueeze", lambda x: A.unsqueeze.default(x, -1), lambda b: [f(b, 3)])
case("view", lambda x: A.view.default(x, [-1, 6]), lambda b: [f(b, 3, 4)])
case("view_batch", lambda x: x.view(x.shape[0], -1), lambda b: [f(b, 3, 4)])
case("view_dtype", lambda x: x.view(torch.int32), lambda b: [f(b, 3)])
case("reshape", lambda x: x.transpose(1, 2).reshape(x.shape[0], -1),
     lambda b: [f(b, 3, 4)])
case("reshape_rank0", lambda x: x.reshape(()), lambda b: [f(1, 1)])
case("flatten", lambda x: torch.flatten(x, 1), lambda b: [f(b, 3, 4)])
case("flatten_all", torch.flatten, lambda b: [f(b, 3, 4)])
case("unflatten", lambda x: torch.unflatten(x, 1, (2, -1)),
     lambda b: [f(b, 6)])
case("flip", lambda x: A.flip.default(x, [0, -1]), lambda b: [f(b, 3)])
case("rot90", lambda x: torch.rot90(x, 1, (1, 2)), lambda b: [f(b, 3, 4)])
case("roll", lambda x: torch.roll(x, (1, -2), (0, 1)), lambda b: [f(b, 3)])
case("roll_flat", lambda x: torch.roll(x, 2), lambda b: [f(4, 3)])
case("repeat", lambda x: A.repeat.default(x, [2, 1, 3]), lambda b: [f(b, 3)])
case("tile", lambda x: torch.tile(x, (2,)), lambda b: [f(b, 3)])
case("repeat_interleave", lambda x: torch.repeat_interleave(x, 2, dim=1),
     lambda b: [f(b, 3)])
case("diagonal", lambda x: A.diagonal.default(x, 1, 1, 2),
     lambda b: [f(b, 3, 4)])
case("diagonal_below", lambda x: torch.diagonal(x, -1), lambda b: [f(4, 3)])
case("diag", torch.diag, lambda b: [f(4)])
case("diag_embed", torch.diag_embed, lambda b: [f(b, 3)])
case("tril", torch.tril, lambda b: [f(b, 3, 4)])
case("triu", lambda x: torch.triu(x, -1), lambda b: [f(b, 3, 4)])
case("tril_indices", lambda x: x + torch.tril_indices(3, 3)[0].sum(),
     lambda b: [f(b, 3)])
case("unfold_view", lambda x: x.unfold(1, 3, 2), lambda b: [f(b, 8)])
case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), lambda b: [f(b, 8, 3, 2)])
case("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2),
     lambda b: [f(b, 2, 4, 6)])
case("channel_shuffle", lambda x: F.channel_shuffle(x, 2),
     lambda b: [f(b, 4, 3, 2)])
case("meshgrid", lambda x, y: torch.meshgrid(x, y, indexing="ij"),
     lambda b: [f(b), f(3)])
case("broadcast_tensors", lambda x, y: torch.broadcast_tensors(x, y),
     lambda b: [f(b, 1), f(4)])
case("contiguous", lambda x: x.transpose(0, 1).contiguous(),
     lambda b: [f(b, 3)])
case("ravel_narrow", lambda x: x.narrow(1, 1, 2).ravel(), lambda b: [f(b, 4)])
case("swapaxes_real", lambda x: torch.view_as_real(torch.view_as_complex(x)),
     lambda b: [f(b, 3, 2)])

#===- Creation and types ---------------------------------------------------===#

case("to_copy", lambda x: A._to_copy.default(x, dtype=torch.float64),
     lambda b: [f(b, 3)])
for source, target in (("float32", "int64"), ("int64", "float32"),
                       ("float32", "bool"), ("float32", "float16"),
                       ("float32", "bfloat16"), ("bool", "float32"),
                       ("int64", "int8"), ("int64", "uint8"),
                       ("float64", "float32"), ("float32", "int32")):
    case(f"to_{source}_{target}",
         lambda x, target=target: x.to(getattr(torch, target)),
         lambda b, source=source: [(f(b, 4) * 9).to(getattr(torch, source))])
case("type_as", lambda x, y: x.type_as(y), lambda b: [i(9, b, 3), f(1)])
case("arange", lambda x: A.arange.start_step(1, 8, 3) + x[0, 0].long() * 0,
     lambda b: [f(b, 3)])
case("arange_float", lambda x: torch.arange(0.5, 2.0, 0.25) + x.mean(),
     lambda b: [f(b, 3)])
case("arange_batch", lambda x: torch.arange(x.shape[0]) + 0 * x[:, 0].long(),
     lambda b: [f(b, 3)])
case("arange_down", lambda x: torch.arange(5, 0, -2) + 0 * x[0, 0].long(),
     lambda b: [f(b, 3)])
case("linspace", lambda x: torch.linspace(0, 1, 5) + x.mean(),
     lambda b: [f(b, 3)])
case("empty_filled", lambda x: A.fill.Scalar(A.empty.memory_format(
    [x.shape[0], 2]), 4.0) + x[:, :1], lambda b: [f(b, 3)])
case("empty_strided", lambda x: A.fill.Scalar(A.empty_strided.default(
    [3, 2], [1, 3]), 4.0) + x.mean(), lambda b: [f(b, 3)])
case("full", lambda x: A.full.default([x.shape[0], 2], 7), lambda b: [f(b, 3)])
case("full_bool", lambda x: torch.full((2, 3), True) & (x[0] > 0),
     lambda b: [f(b, 3)])
case("full_dtype", lambda x: torch.full((3,), 2, dtype=torch.float16) + x,
     lambda b: [f(b, 3)])
case("full_like", lambda x: A.full_like.default(x, -1.5), lambda b: [f(b, 3)])
case("full_like_dtype",
     lambda x: A.full_like.default(x, 1, dtype=torch.int32),
     lambda b: [f(b, 3)])
case("zeros_ones", lambda x: torch.zeros_like(x) + torch.ones_like(x)
     + torch.zeros(3) + x.new_ones(x.shape) + x.new_zeros(3)
     + x.new_full((3,), 2.0), lambda b: [f(b, 3)])
case("eye", lambda x: torch.eye(3) @ x, lambda b: [f(3, 3)])
case("eye_wide", lambda x: torch.eye(3, 4) + x, lambda b: [f(3, 4)])
case("scalar_tensor", lambda x: x * A.scalar_tensor.default(2.5),
     lambda b: [f(b, 3)])
case("scalar_tensor_size",
     lambda x: A.scalar_tensor.default(x.shape[0]) * x, lambda b: [f(b, 3)])
case("tensor_literal", lambda x: x + torch.tensor([1.0, 2.0, 3.0]),
     lambda b: [f(b, 3)])
case("one_hot", lambda x: F.one_hot(x, 5), lambda b: [i(5, b, 2)])

#===- Indexes --------------------------------------------------------------===#

case("embedding", lambda w, x: A.embedding.default(w, x),
     lambda b: [f(7, 4), i(7, b, 3)])
case("embedding_padding", lambda w, x: F.embedding(x, w, padding_idx=1),
     lambda b: [f(7, 4), i(7, b, 3)])
for mode in ("sum", "mean", "max"):
    case(f"embedding_bag_{mode}",
         lambda w, x, mode=mode: F.embedding_bag(x, w, mode=mode),
         lambda b: [f(7, 4), i(7, b, 3)])
case("embedding_bag_offsets",
     lambda w, x, o: A._embedding_bag.default(w, x, o)[0],
     lambda b: [f(7, 4), i(7, 6), torch.tensor([0, 2, 2, 5])])
case("embedding_bag_weights",
     lambda w, x, o, s: F.embedding_bag(x, w, o, per_sample_weights=s,
                                        mode="sum", include_last_offset=True),
     lambda b: [f(7, 4), i(7, 6), torch.tensor([0, 2, 5, 6]), f(6)])
case("embedding_dense_backward",
     lambda g, x: A.embedding_dense_backward.default(g, x, 7, 2, False),
     lambda b: [f(b, 3, 4), i(7, b, 3)])
case("embedding_dense_backward_freq",
     lambda g, x: A.embedding_dense_backward.default(g, x, 7, -1, True),
     lambda b: [f(b, 3, 4), i(7, b, 3)])
case("gather", lambda x, j: A.gather.default(x, 1, j),
     lambda b: [f(b, 5), i(5, b, 3)])
case("gather_smaller", lambda x, j: torch.gather(x, -2, j),
     lambda b: [f(6, 5), i(6, 2, 3)])
case("index", lambda x, j: A.index.Tensor(x, [j]), lambda b: [f(6, 3),
                                                              i(6, b)])
case("index_negative", lambda x, j: x[j],
     lambda b: [f(6, 3), i(6, b, 2, low=-6)])
case("index_two", lambda x, j, k: A.index.Tensor(x, [j, k]),
     lambda b: [f(6, 3, 2), i(6, b), i(3, b)])
case("index_broadcast", lambda x, j, k: x[j, k],
     lambda b: [f(6, 3, 2), i(6, b, 1), i(3, 4)])
case("index_skip", lambda x, j: A.index.Tensor(x, [None, j]),
     lambda b: [f(b, 5, 2), i(5, 3)])
case("index_apart", lambda x, j, k: x[j, :, k],
     lambda b: [f(6, 4, 3), i(6, b), i(3, b)])
case("index_inner", lambda x, j, k: x[:, j, k],
     lambda b: [f(b, 4, 3, 2), i(4, 5), i(3, 5)])
case("index_mask_size", lambda x, m: torch.where(m, x, 0).sum(),
     lambda b: [f(b, 4), p(b, 4)])
case("index_mask", lambda x, m: x[m].sum(), lambda b: [f(b, 4), p(b, 4)])
case("index_select", lambda x, j: A.index_select.default(x, 1, j),
     lambda b: [f(b, 5), i(5, 7)])
case("index_select_rank0", lambda x, j: torch.index_select(x, 0, j),
     lambda b: [f(5, 2), i(5)])
case("take_along", lambda x, j: torch.take_along_dim(x, j, 1),
     lambda b: [f(b, 5), i(5, b, 2)])
case("take", torch.take, lambda b: [f(4, 5), i(20, b, 2)])
case("index_put", lambda x, j, v: A.index_put.default(x, [j], v),
     lambda b: [f(6, 3), torch.tensor([4, 0, 2]), f(3, 3)])
case("index_put_accumulate",
     lambda x, j, v: A.index_put.default(x, [j], v, True),
     lambda b: [f(6, 3), i(6, b), f(b, 3)])
case("index_put_skip",
     lambda x, j, v: A.index_put.default(x, [None, j], v),
     lambda b: [f(b, 5), torch.tensor([4, 1]), f(b, 2)])
case("index_put_two",
     lambda x, j, k, v: A.index_put.default(x, [j, k], v, True),
     lambda b: [f(6, 5, 2), i(6, b), i(5, b), f(b, 2)])
case("index_put_broadcast", lambda x, j, v: A.index_put.default(x, [j], v),
     lambda b: [f(6, 3), torch.tensor([4, 0]), f()])
case("index_put_mask", lambda x, m, v: A.index_put.default(x, [m], v),
     lambda b: [f(b, 4), p(b, 4), f()])
case("index_add", lambda x, j, v: torch.index_add(x, 0, j, v, alpha=2),
     lambda b: [f(6, 3), i(6, b), f(b, 3)])
case("index_copy", lambda x, j, v: torch.index_copy(x, 1, j, v),
     lambda b: [f(b, 5), torch.tensor([4, 1]), f(b, 2)])
case("index_fill", lambda x, j: torch.index_fill(x, 1, j, 3.0),
     lambda b: [f(b, 5), torch.tensor([4, 1])])
case("scatter_value", lambda x, j: A.scatter.value(x, 1, j, 2.5),
     lambda b: [f(b, 5), i(5, b, 2)])
case("scatter_src", lambda x, j, v: A.scatter.src(x, 1, j, v),
     lambda b: [f(b, 5), torch.tensor([[0, 3]]).expand(b, 2).contiguous(),
                f(b, 2)])
case("scatter_smaller", lambda x, j, v: A.scatter.src(x, 0, j, v),
     lambda b: [f(6, 5), torch.tensor([[0, 3, 1]]), f(3, 4)])
case("scatter_add", lambda x, j, v: A.scatter_add.default(x, 0, j, v),
     lambda b: [f(6, 3), i(6, b, 3), f(b, 3)])
case("scatter_reduce_mode",
     lambda x, j, v: torch.scatter(x, 1, j, v, reduce="multiply"),
     lambda b: [f(b, 5), torch.tensor([[0, 3]]).expand(b, 2).contiguous(),
                f(b, 2)])
for reduce in ("sum", "prod", "mean", "amax", "amin"):
    for included in (True, False):
        case(f"scatter_reduce_{reduce}{'' if included else '_without'}",
             lambda x, j, v, reduce=reduce, included=included:
             A.scatter_reduce.two(x, 0, j, v, reduce, include_self=included),
             lambda b: [f(6, 3), i(6, b, 3), f(b, 3)])
case("select_scatter", lambda x, v: A.select_scatter.default(x, v, 1, -1),
     lambda b: [f(b, 5), f(b)])
case("slice_scatter",
     lambda x, v: A.slice_scatter.default(x, v, 1, 0, 5, 2),
     lambda b: [f(b, 5), f(b, 3)])
case("slice_scatter_negative",
     lambda x, v: A.slice_scatter.default(x, v, -1, -2),
     lambda b: [f(b, 5), f(b, 2)])
case("diagonal_scatter", lambda x, v: torch.diagonal_scatter(x, v),
     lambda b: [f(4, 4), f(4)])
case("masked_scatter", A.masked_scatter.default,
     lambda b: [f(b, 4), p(b, 4), f(b, 4)])
case("masked_select_sum", lambda x, m: torch.masked_select(x, m).sum(),
     lambda b: [f(b, 4), p(b, 4)])
case("nonzero", A.nonzero.default, lambda b: [i(2, b, 4)])
case("nonzero_tuple", lambda x: torch.nonzero(x, as_tuple=True),
     lambda b: [i(2, b, 4)])
case("argwhere", torch.argwhere, lambda b: [i(2, b, 4)])
case("sym_size", lambda x: (x.shape[0], x.numel(), x.stride(0),
                            x.storage_offset()), lambda b: [f(b, 4)])
case("sym_size_ops", lambda x: (A.sym_size.int(x, 0), A.sym_numel.default(x),
                                A.sym_stride.int(x, 0),
                                A.sym_storage_offset.default(x)),
     lambda b: [f(b, 4)])
case("item_scaled", lambda x, y: y * A._local_scalar_dense.default(x),
     lambda b: [f(), f(b, 4)])
case("item_float", lambda x, y: y * x.item(), lambda b: [f(), f(b, 4)])
case("lift_double", lambda x: x + torch.tensor(0.1, dtype=torch.float64),
     lambda b: [d(b, 4)])
