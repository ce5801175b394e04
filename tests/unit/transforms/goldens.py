"""Writes goldens.npz: what torchvision and Pillow make of one small picture.

usage: goldens.py FILE.npz   (with torch, torchvision, Pillow and NumPy)
"""

import sys

import numpy as np
import torch
import torchvision.transforms.functional as on_pil
import torchvision.transforms.v2.functional as on_tensor
from PIL import Image
from torchvision.transforms import InterpolationMode as Mode

FILTERS = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR,
           "bicubic": Image.BICUBIC}


def picture(height=23, width=17):
    """A smooth part, a noisy one, and edges: every level occurs."""
    y, x = np.mgrid[0:height, 0:width]
    noise = np.random.RandomState(3).randint(0, 256, (height, width, 3))
    smooth = np.stack([x * 255 // (width - 1), y * 255 // (height - 1),
                       (x + y) * 255 // (height + width - 2)], -1)
    mixed = np.where((x > width // 2)[..., None], noise, smooth)
    mixed[5:9, 2:7] = (255, 0, 128)
    return mixed.astype(np.uint8)


def resized(image):
    for name, code in FILTERS.items():
        for height, width in [(11, 8), (40, 31), (23, 9), (7, 17), (1, 1)]:
            made = Image.fromarray(image).resize((width, height), code)
            yield f"resized_{name}_{height}_{width}", made


def moved(image):
    pil = Image.fromarray(image)
    for name, mode in [("nearest", Mode.NEAREST), ("bilinear", Mode.BILINEAR)]:
        for i, (degrees, shift, scale, shear) in enumerate(
                [(30, (0, 0), 1, (0, 0)), (-77.5, (2, -3), 1.3, (0, 0)),
                 (10, (0, 1), 0.7, (12, -7))]):
            yield f"transformed_{name}_{i}", on_pil.affine(
                pil, degrees, list(shift), scale, list(shear), mode, fill=9)


def shaped(image):
    pil = Image.fromarray(image)
    yield "center_crop_10", on_pil.center_crop(pil, [10, 10])
    yield "center_crop_20", on_pil.center_crop(pil, [20, 20])
    yield "center_crop_30", on_pil.center_crop(pil, [30, 30])
    yield "resize_9", on_pil.resize(pil, 9)
    for mode in ["constant", "edge", "reflect", "symmetric"]:
        yield f"padded_{mode}", on_pil.pad(pil, [1, 2, 3, 4], 7, mode)


def coloured(image):
    tensor = torch.from_numpy(image).permute(2, 0, 1)
    changes = {"brightness": (on_tensor.adjust_brightness, [0.3, 1.7]),
               "contrast": (on_tensor.adjust_contrast, [0.2, 1.9]),
               "saturation": (on_tensor.adjust_saturation, [0, 0.6, 2.5]),
               "hue": (on_tensor.adjust_hue, [-0.5, 0.13, 0.37])}
    for name, (change, factors) in changes.items():
        for i, factor in enumerate(factors):
            yield f"{name}_{i}", change(tensor, factor).permute(1, 2, 0)
    for i, (kernel, sigma) in enumerate([(3, 0.5), (7, 1.6)]):
        made = on_tensor.gaussian_blur(tensor, [kernel] * 2, [sigma] * 2)
        yield f"blurred_{i}", made.permute(1, 2, 0)
    yield "gray", on_pil.to_grayscale(Image.fromarray(image))


def main(file):
    image = picture()
    made = {"picture": image}
    for group in [resized, moved, shaped, coloured]:
        for name, result in group(image):
            made[name] = np.ascontiguousarray(np.asarray(result))
    normal = on_pil.normalize(on_pil.to_tensor(Image.fromarray(image)),
                              [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    made["normalized"] = normal.numpy()
    np.savez_compressed(file, **made)


if __name__ == "__main__":
    main(sys.argv[1])
