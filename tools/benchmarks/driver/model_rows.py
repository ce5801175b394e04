"""The table of models: what is measured, at which sizes, and how close the
sides' results have to be."""

import dataclasses
import fnmatch


@dataclasses.dataclass
class Row:
    """`count` tokens or images are a step's. `gigabytes` of a device's memory
    are enough for either side."""
    name: str
    params: dict
    count: int
    unit: str
    gigabytes: float

    @property
    def tolerance(self):
        """Of the largest value compared: outputs, or the first three losses."""
        if self.params["dtype"] == "f32":
            return 2e-3
        # Rounded to 8 bits at every layer.
        return 0.05 if self.params["do"] == "train" else 0.1

    def words(self, **more):
        return " ".join(f"{key}={value}"
                        for key, value in (self.params | more).items())


GPT2 = {"kind": "gpt2", "words": 50257, "size": 768, "heads": 12, "layers": 12}
LLAMA = {"kind": "llama", "size": 2048, "heads": 32, "kv_heads": 8,
         "ffn": 5632, "layers": 4}
RESNET = {"kind": "resnet", "stages": "3,4,6,3", "width": 64, "image": 224,
          "classes": 1000}
BERT = {"kind": "bert", "words": 30522, "longest": 512, "size": 768,
        "heads": 12, "layers": 12}
VIT = {"kind": "vit", "image": 224, "patch": 16, "size": 768, "heads": 12,
       "layers": 12, "classes": 1000}
UNET = {"kind": "unet", "channels": 320, "groups": 32, "heads": 8, "image": 64}
LSTM = {"kind": "lstm", "size": 512, "layers": 2, "classes": 10, "t": 128}
DCGAN = {"kind": "dcgan", "noise": 100, "width": 64}
MOBILENET = {"kind": "mobilenet", "least": 16, "image": 224, "classes": 1000}
MOE = {"kind": "moe", "size": 1024, "hidden": 4096, "experts": 8}
WAVENET = {"kind": "wavenet", "channels": 64, "skips": 128, "classes": 256,
           "doublings": 10, "cycles": 2}

# The same forms, so small that a test runs all of them.
TINY = {
    "gpt2": {"words": 97, "size": 24, "heads": 3, "layers": 2, "t": 12},
    "llama": {"size": 48, "heads": 6, "kv_heads": 2, "ffn": 40, "layers": 2,
              "t": 10, "places": 16},
    "resnet": {"stages": "1,2", "width": 4, "image": 32, "classes": 5},
    "bert": {"words": 61, "longest": 16, "size": 24, "heads": 2, "layers": 2,
             "t": 12},
    "vit": {"image": 16, "patch": 4, "size": 24, "heads": 2, "layers": 2,
            "classes": 5},
    "unet": {"channels": 8, "groups": 4, "heads": 2, "image": 8},
    "lstm": {"size": 6, "classes": 5, "t": 7},
    "dcgan": {"noise": 5, "width": 2},
    "mobilenet": {"least": 4, "image": 64, "classes": 5},
    "moe": {"tokens": 24, "size": 8, "hidden": 12, "experts": 4},
    "wavenet": {"channels": 6, "skips": 8, "classes": 7, "doublings": 3,
                "cycles": 2, "t": 40},
}
TINY_BATCH = 2


def on_gpu():
    """(model, what is done, its sizes, units of a step, unit, gigabytes in
    bf16); f32 needs twice as much."""
    for batch, t in ((1, 128), (8, 1024)):
        sizes = {"batch": batch, "t": t}
        yield GPT2, "forward", sizes, batch * t, "tokens", 4
        yield GPT2, "train", sizes, batch * t, "tokens", 20
    yield LLAMA, "forward", {"batch": 1, "t": 2048}, 2048, "tokens", 3
    for batch in (1, 8):
        yield (LLAMA, "decode", {"batch": batch, "places": 1024}, batch,
               "tokens", 2)
    yield LLAMA, "train", {"batch": 4, "t": 2048}, 4 * 2048, "tokens", 20
    for batch in (1, 64):
        yield RESNET, "forward", {"batch": batch}, batch, "images", 6
    yield RESNET, "train", {"batch": 64}, 64, "images", 10
    for batch, t in ((1, 128), (8, 384)):
        yield BERT, "forward", {"batch": batch, "t": t}, batch, "sentences", 2
    yield BERT, "train", {"batch": 8, "t": 384}, 8, "sentences", 10
    for batch in (1, 64):
        yield VIT, "forward", {"batch": batch}, batch, "images", 4
    yield VIT, "train", {"batch": 64}, 64, "images", 20
    for what in ("forward", "train"):
        yield UNET, what, {"batch": 4}, 4, "images", 3
        yield LSTM, what, {"batch": 32}, 32 * 128, "steps", 2
        yield DCGAN, what, {"batch": 64}, 64, "images", 2
        yield MOBILENET, what, {"batch": 64}, 64, "images", 8
        yield MOE, what, {"tokens": 4096}, 4096, "tokens", 4
        yield WAVENET, what, {"batch": 4, "t": 16000}, 4 * 16000, "samples", 6
    yield MOBILENET, "forward", {"batch": 1}, 1, "images", 1


def on_cpu():
    """In f32, small enough for a few processors."""
    for what, gigabytes in (("forward", 2), ("train", 4)):
        yield GPT2, what, {"batch": 1, "t": 128}, 128, "tokens", gigabytes
        yield BERT, what, {"batch": 1, "t": 128}, 1, "sentences", gigabytes
        yield VIT, what, {"batch": 1}, 1, "images", gigabytes
        yield RESNET, what, {"batch": 8}, 8, "images", gigabytes
        yield MOBILENET, what, {"batch": 8}, 8, "images", gigabytes
        yield LSTM, what, {"batch": 8}, 8 * 128, "steps", gigabytes
        yield DCGAN, what, {"batch": 8}, 8, "images", gigabytes
        yield WAVENET, what, {"batch": 1, "t": 4000}, 4000, "samples", gigabytes
        yield UNET, what, {"batch": 1}, 1, "images", gigabytes
        yield MOE, what, {"tokens": 256}, 256, "tokens", gigabytes
    yield RESNET, "forward", {"batch": 1}, 1, "images", 1
    yield MOBILENET, "forward", {"batch": 1}, 1, "images", 1
    yield LLAMA, "forward", {"batch": 1, "t": 128}, 128, "tokens", 3
    yield LLAMA, "decode", {"batch": 1, "places": 1024}, 1, "tokens", 3


# What stands for a size in a row's name.
SHORT = {"batch": "b", "t": "t", "places": "s", "tokens": "n"}


def row_of(model, what, sizes, count, unit, gigabytes, dtype):
    name = "_".join([model["kind"], what]
                    + [SHORT[key] + str(value) for key, value in sizes.items()]
                    + [dtype])
    return Row(name, model | {"do": what, "dtype": dtype} | sizes, count, unit,
               gigabytes)


def rows_of(device):
    """On a GPU in bf16 and in f32; on the processor in f32."""
    if device == "cpu":
        return [row_of(*each, "f32") for each in on_cpu()]
    return [row_of(*each[:-1], each[-1] * (2 if dtype == "f32" else 1), dtype)
            for dtype in ("bf16", "f32") for each in on_gpu()]


def tiny(row):
    """The row with sizes for a test."""
    sizes = {key: value for key, value in TINY[row.params["kind"]].items()
             if key in row.params}
    if "batch" in row.params:
        sizes["batch"] = min(TINY_BATCH, row.params["batch"])
    return dataclasses.replace(row, params=row.params | sizes, count=1,
                               unit="steps")


def chosen(patterns, rows):
    """Rows whose name, or its first words, match one of the patterns; or
    all."""
    return [row for row in rows
            if not patterns or any(fnmatch.fnmatch(row.name, pattern) or
                                   fnmatch.fnmatch(row.name, pattern + "_*")
                                   for pattern in patterns)]
