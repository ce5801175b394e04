"""Pooling, padding, sampling, and what is drawn at random."""

import torch
from torch.nn import functional as F

from ops.table import A, case, distinct, f, i, p, positive, unit

#===- Pooling --------------------------------------------------------------===#

case("adaptive_avg_pool1d", lambda x: A.adaptive_avg_pool1d.default(x, [3]),
     lambda b: [f(b, 2, 7)])
case("adaptive_avg_pool2d_raw",
     lambda x: A._adaptive_avg_pool2d.default(x, [2, 3]),
     lambda b: [f(b, 2, 5, 7)])
case("adaptive_avg_pool3d_raw",
     lambda x: A._adaptive_avg_pool3d.default(x, [2, 3, 1]),
     lambda b: [f(b, 2, 5, 4, 3)])
case("adaptive_avg_pool2d_backward",
     A._adaptive_avg_pool2d_backward.default,
     lambda b: [f(b, 2, 2, 3), f(b, 2, 5, 7)])
case("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (None, 2)),
     lambda b: [f(b, 2, 5, 7)])
case("adaptive_avg_pool2d_one", lambda x: F.adaptive_avg_pool2d(x, 1),
     lambda b: [f(1, 2, b + 3, 7)])
case("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 3),
     lambda b: [distinct(b, 2, 7)])
case("adaptive_max_pool2d",
     lambda x: F.adaptive_max_pool2d(x, (2, 3), return_indices=True),
     lambda b: [distinct(b, 2, 5, 7)])
case("avg_pool1d", lambda x: A.avg_pool1d.default(x, [3]),
     lambda b: [f(b, 2, 8)])
case("avg_pool1d_options",
     lambda x: A.avg_pool1d.default(x, [3], [2], [1], True, False),
     lambda b: [f(b, 2, 8)])
case("avg_pool2d", lambda x: A.avg_pool2d.default(x, [2, 3]),
     lambda b: [f(b, 2, 6, 7)])
case("avg_pool2d_options",
     lambda x: A.avg_pool2d.default(x, [3, 2], [2, 2], [1, 0], True, False),
     lambda b: [f(b, 2, 6, 7)])
case("avg_pool2d_ceil_counted",
     lambda x: A.avg_pool2d.default(x, [3, 3], [2, 2], [1, 1], True, True),
     lambda b: [f(b, 2, 6, 8)])
case("avg_pool2d_divisor",
     lambda x: A.avg_pool2d.default(x, [2, 2], [1, 1], [1, 1], False, True, 3),
     lambda b: [f(b, 2, 5, 5)])
case("avg_pool3d", lambda x: A.avg_pool3d.default(x, [2, 2, 3], [1, 2, 1]),
     lambda b: [f(b, 2, 4, 5, 6)])
case("avg_pool2d_backward", lambda g, x: A.avg_pool2d_backward.default(
    g, x, [3, 3], [2, 2], [1, 1], False, False, None),
    lambda b: [f(b, 2, 3, 4), f(b, 2, 6, 7)])
case("avg_pool2d_unbatched", lambda x: F.avg_pool2d(x, 2),
     lambda b: [f(2, 6, 7)])
case("max_pool1d", lambda x: F.max_pool1d(x, 3, 2, 1), lambda b: [f(b, 2, 9)])
case("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
     lambda b: [f(b, 2, 6, 7)])
case("max_pool2d_dilated", lambda x: F.max_pool2d(x, 2, 1, 0, 2),
     lambda b: [f(b, 2, 6, 7)])
case("max_pool3d", lambda x: F.max_pool3d(x, 2), lambda b: [f(b, 2, 4, 5, 6)])
case("max_pool2d_indices", lambda x: A.max_pool2d_with_indices.default(
    x, [3, 2], [2, 1], [1, 0]), lambda b: [distinct(b, 2, 6, 7)])
case("max_pool2d_indices_dilated",
     lambda x: A.max_pool2d_with_indices.default(
         x, [2, 2], [2, 2], [1, 1], [2, 2], True),
     lambda b: [distinct(b, 2, 6, 7)])
case("max_pool3d_indices", lambda x: A.max_pool3d_with_indices.default(
    x, [2, 2, 2], [2, 1, 2]), lambda b: [distinct(b, 2, 4, 5, 6)])
case("max_pool2d_indices_backward",
     lambda g, x: A.max_pool2d_with_indices_backward.default(
         g, x, [3, 2], [2, 1], [1, 0], [1, 1], False,
         A.max_pool2d_with_indices.default(x, [3, 2], [2, 1], [1, 0])[1]),
     lambda b: [f(b, 2, 3, 6), distinct(b, 2, 6, 7)])
case("max_unpool2d", lambda x: F.max_unpool2d(
    *F.max_pool2d(x, 2, return_indices=True), 2),
    lambda b: [distinct(b, 2, 4, 6)])
case("lp_pool2d", lambda x: F.lp_pool2d(x, 2, 2), lambda b: [positive(b, 2, 4, 6)])

#===- Padding --------------------------------------------------------------===#

case("constant_pad", lambda x: A.constant_pad_nd.default(x, [1, 2], 3.5),
     lambda b: [f(b, 3, 4)])
case("constant_pad_crop", lambda x: A.constant_pad_nd.default(x, [-1, 2, 1, -1]),
     lambda b: [f(b, 3, 4)])
case("constant_pad_int", lambda x: F.pad(x, (1, 1), value=7),
     lambda b: [i(9, b, 3)])
case("constant_pad_bool", lambda x: F.pad(x, (1, 1), value=True),
     lambda b: [p(b, 3)])
case("reflection_pad1d", lambda x: A.reflection_pad1d.default(x, [2, 1]),
     lambda b: [f(b, 2, 5)])
case("reflection_pad2d", lambda x: A.reflection_pad2d.default(x, [2, 1, 0, 3]),
     lambda b: [f(b, 2, 5, 4)])
case("reflection_pad3d",
     lambda x: A.reflection_pad3d.default(x, [1, 1, 0, 2, 1, 0]),
     lambda b: [f(b, 2, 3, 4, 3)])
case("replication_pad1d", lambda x: F.pad(x, (2, 3), "replicate"),
     lambda b: [f(b, 2, 3)])
case("replication_pad2d",
     lambda x: A.replication_pad2d.default(x, [2, 5, 0, 3]),
     lambda b: [f(b, 2, 3, 4)])
case("replication_pad3d",
     lambda x: A.replication_pad3d.default(x, [1, 1, 0, 2, 4, 0]),
     lambda b: [f(b, 2, 3, 4, 3)])
case("circular_pad", lambda x: F.pad(x, (1, 2, 2, 0), "circular"),
     lambda b: [f(b, 2, 3, 4)])
case("reflection_unbatched", lambda x: F.pad(x, (1, 2), "reflect"),
     lambda b: [f(2, 5)])

#===- Sampling -------------------------------------------------------------===#

case("upsample_nearest_vec", lambda x: A.upsample_nearest2d.vec(
    x, [7, 9], None), lambda b: [f(b, 2, 3, 4)])
case("upsample_nearest_scale", lambda x: A.upsample_nearest2d.vec(
    x, None, [1.6, 2.3]), lambda b: [f(b, 2, 5, 4)])
case("upsample_bilinear_vec", lambda x: A.upsample_bilinear2d.vec(
    x, [7, 9], False, None), lambda b: [f(b, 2, 3, 4)])
case("upsample_bilinear_corners", lambda x: A.upsample_bilinear2d.vec(
    x, None, True, [2.0, 1.7]), lambda b: [f(b, 2, 5, 4)])
for mode, rank in (("nearest", 1), ("nearest", 3), ("linear", 1),
                   ("bilinear", 2), ("bicubic", 2), ("trilinear", 3),
                   ("nearest-exact", 2), ("area", 2)):
    title = mode.replace("-", "_")
    case(f"interpolate_{title}_{rank}", lambda x, mode=mode:
         F.interpolate(x, scale_factor=1.6, mode=mode),
         lambda b, rank=rank: [f(b, 2, *[4, 5, 3][:rank])])
    case(f"interpolate_{title}_{rank}_down", lambda x, mode=mode, rank=rank:
         F.interpolate(x, size=[3, 2, 2][:rank], mode=mode),
         lambda b, rank=rank: [f(b, 2, *[4, 5, 3][:rank])])
for mode in ("bilinear", "bicubic"):
    case(f"interpolate_{mode}_corners", lambda x, mode=mode: F.interpolate(
        x, size=(7, 9), mode=mode, align_corners=True),
        lambda b: [f(b, 2, 4, 5)])
    case(f"interpolate_{mode}_antialias", lambda x, mode=mode: F.interpolate(
        x, size=(3, 4), mode=mode, antialias=True),
        lambda b: [f(b, 2, 7, 9)])
case("interpolate_recomputed", lambda x: F.interpolate(
    x, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True),
    lambda b: [f(b, 2, 4, 5)])
case("interpolate_sizes", lambda x: F.interpolate(
    x, scale_factor=2.0, mode="bilinear"), lambda b: [f(1, 2, b + 2, 5)])
for way, mode in enumerate(("bilinear", "nearest", "bicubic")):
    for edge, padding in enumerate(("zeros", "border", "reflection")):
        for corners in (False, True):
            case(f"grid_sampler_{mode}_{padding}_{'ac'[corners]}",
                 lambda x, g, way=way, edge=edge, corners=corners:
                 A.grid_sampler_2d.default(x, g, way, edge, corners),
                 lambda b: [f(b, 2, 4, 5), unit(b, 3, 4, 2) * 1.4],
                 symbolic=mode == "bilinear")
case("grid_sample_3d", lambda x, g: F.grid_sample(x, g, align_corners=False),
     lambda b: [f(b, 2, 3, 4, 5), unit(b, 2, 3, 4, 3)])
case("affine_grid", lambda t: F.affine_grid(t, [t.shape[0], 1, 3, 4],
                                            align_corners=False),
     lambda b: [f(b, 2, 3)])

#===- Vision ---------------------------------------------------------------===#


def boxes(count):
    corners = torch.rand(count, 2) * 10
    return torch.cat([corners, corners + positive(count, 2) * 8], 1)


def vision(name):
    import torchvision
    return getattr(torchvision.ops, name)


case("vision_nms", lambda x, s: vision("nms")(x, s, 0.3),
     lambda b: [boxes(12), distinct(12)])
case("vision_roi_align", lambda x, r: vision("roi_align")(
    x, r, (3, 2), 0.5, 2, True), lambda b: [f(2, 3, 10, 12), torch.cat(
        [i(2, b, 1).float(), boxes(b)], 1)])
case("vision_roi_align_adaptive", lambda x, r: vision("roi_align")(
    x, r, (3, 2)), lambda b: [f(2, 3, 16, 20), torch.cat(
        [i(2, 4, 1).float(), boxes(4)], 1)])
case("vision_roi_pool", lambda x, r: vision("roi_pool")(x, r, (3, 2)),
     lambda b: [f(2, 3, 16, 20), torch.cat([i(2, b, 1).float(), boxes(b)], 1)])
case("vision_ps_roi_align", lambda x, r: vision("ps_roi_align")(
    x, r, (2, 3), 0.5, 2), lambda b: [f(2, 12, 10, 12), torch.cat(
        [i(2, 5, 1).float(), boxes(5)], 1)])
case("vision_deform_conv", lambda x, o, w: vision("deform_conv2d")(x, o, w),
     lambda b: [f(b, 2, 5, 6), f(b, 8, 4, 5), f(3, 2, 2, 2)])
case("vision_box_iou", lambda x, y: vision("box_iou")(x, y),
     lambda b: [boxes(b), boxes(4)])

#===- Random ---------------------------------------------------------------===#

RANDOM = dict(expect="shapes")
case("rand", lambda x: A.rand.default([x.shape[0], 3]), lambda b: [f(b, 3)],
     **RANDOM)
case("randn", lambda x: A.randn.default([x.shape[0], 3]), lambda b: [f(b, 3)],
     **RANDOM)
case("randperm", lambda x: A.randperm.default(x.shape[0]), lambda b: [f(b, 3)],
     **RANDOM)
case("rand_like", torch.rand_like, lambda b: [f(b, 3)], **RANDOM)
case("randn_like", torch.randn_like, lambda b: [f(b, 3)], **RANDOM)
case("randint", lambda x: torch.randint(2, 9, (x.shape[0], 2)),
     lambda b: [f(b, 3)], **RANDOM)
case("bernoulli", torch.bernoulli, lambda b: [torch.rand(b, 3)], **RANDOM)
case("multinomial", lambda x: torch.multinomial(x, 2, True),
     lambda b: [positive(b, 3)], **RANDOM)
case("normal", lambda x: torch.normal(x, 2.0), lambda b: [f(b, 3)], **RANDOM)
case("uniform_inplace", lambda x: torch.empty_like(x).uniform_(-1, 1),
     lambda b: [f(b, 3)], **RANDOM)
case("exponential", lambda x: torch.empty_like(x).exponential_(),
     lambda b: [f(b, 3)], **RANDOM)
