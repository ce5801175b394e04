#!/usr/bin/env python3
"""Networks that people have as ONNX files, beside ONNX Runtime.

    real_models.py make DIR [NAME...]    run in the environment of `setup`
    real_models.py check SINTER DIR      prints one line per network
    real_models.py setup VENV            makes the environment, from PyPI
    real_models.py all SINTER DIR        the three of them

`make` writes each network as a folder of the ONNX backend suite: model.onnx,
test_data_set_0 with inputs drawn from a fixed seed, and what ONNX Runtime gives
for them. Weights are random. Nothing of it belongs into the repository.
"""

import json
import os
import subprocess
import sys
import traceback
import venv

PACKAGES = ["torch", "torchvision", "transformers", "onnx", "onnxscript",
            "ml_dtypes",
            "onnxruntime", "rapidocr-onnxruntime==1.4.4"]
SKIPPED = 77

#===- Networks -------------------------------------------------------------===#

NETWORKS = {}


def network(name, **options):
    def add(make):
        NETWORKS[name] = (make, options)
        return make
    return add


def image_network(name, size=224, batch=1, **options):
    def make():
        import torch
        import torchvision
        kwargs = {"weights": None}
        if "deeplab" in name or "rcnn" in name:
            kwargs["weights_backbone"] = None
        model = torchvision.models.get_model(name, **kwargs)
        return model, (torch.randn(batch, 3, size, size),), {0: "batch"}
    NETWORKS[name] = (make, options)


for each in ("resnet18", "resnet50", "mobilenet_v3_small",
             "mobilenet_v3_large", "efficientnet_b0", "vit_b_32", "swin_t",
             "convnext_tiny", "shufflenet_v2_x1_0", "densenet121",
             "squeezenet1_1", "googlenet", "regnet_y_400mf", "mnasnet1_0"):
    image_network(each)
image_network("deeplabv3_mobilenet_v3_large", size=128)


@network("fasterrcnn_mobilenet", dynamo=False)
def fasterrcnn():
    import torch
    import torchvision
    model = torchvision.models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone=None)
    return model, ([torch.rand(3, 200, 240)],), None


def language(kind, **changes):
    import transformers
    config = getattr(transformers, kind + "Config")(**changes)
    config._attn_implementation = changes.pop("attn", "sdpa")
    return config


def tokens(batch, length, vocabulary):
    import torch
    return torch.randint(0, vocabulary, (batch, length))


def masked(model, ids):
    """Without a mask the models look for sequences that were packed into one,
    with what PyTorch's older exporter lacks."""
    import torch
    return (First(model, "logits", keys=("input_ids", "attention_mask")),
            (ids, torch.ones_like(ids)), {0: "batch", 1: "length"})


class First:
    """Makes a module of one that gives a structure: its named parts."""

    def __new__(cls, model, *names, keys=("input_ids",)):
        import torch

        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, *inputs):
                result = self.model(**dict(zip(keys, inputs)), return_dict=True)
                return tuple(getattr(result, name) for name in names)
        return Module()


@network("bert")
def bert():
    import torch
    import transformers
    config = language("Bert", hidden_size=256, num_hidden_layers=4,
                      num_attention_heads=4, intermediate_size=1024)
    model = transformers.BertModel(config)
    ids = tokens(2, 24, config.vocab_size)
    mask = torch.ones_like(ids)
    mask[1, 17:] = 0
    return (First(model, "last_hidden_state", "pooler_output",
                  keys=("input_ids", "attention_mask")), (ids, mask),
            {0: "batch", 1: "length"})


@network("gpt2")
def gpt2():
    import transformers
    config = language("GPT2", n_layer=4, n_embd=256, n_head=4, use_cache=False)
    return masked(transformers.GPT2LMHeadModel(config),
                  tokens(2, 20, config.vocab_size))


@network("t5")
def t5():
    import transformers
    config = language("T5", num_layers=3, d_model=256, d_kv=32, d_ff=512,
                      num_heads=8, use_cache=False)
    model = transformers.T5ForConditionalGeneration(config)
    return (First(model, "logits", keys=("input_ids", "decoder_input_ids")),
            (tokens(2, 18, 32000), tokens(2, 9, 32000)), {0: "batch"})


@network("whisper_tiny")
def whisper():
    import torch
    import transformers
    config = language("Whisper", encoder_layers=4, decoder_layers=4,
                      d_model=384, encoder_attention_heads=6,
                      decoder_attention_heads=6, encoder_ffn_dim=1536,
                      decoder_ffn_dim=1536, use_cache=False)
    model = transformers.WhisperForConditionalGeneration(config)
    ids = tokens(1, 7, 50000)
    return (First(model, "logits",
                  keys=("input_features", "decoder_input_ids",
                        "decoder_attention_mask")),
            (torch.randn(1, 80, 3000), ids, torch.ones_like(ids)), None)


@network("llama")
def llama():
    import transformers
    config = language("Llama", hidden_size=256, intermediate_size=688,
                      num_hidden_layers=4, num_attention_heads=8,
                      num_key_value_heads=4, vocab_size=8000, use_cache=False)
    return masked(transformers.LlamaForCausalLM(config), tokens(1, 32, 8000))


@network("qwen2")
def qwen2():
    import transformers
    config = language("Qwen2", hidden_size=256, intermediate_size=688,
                      num_hidden_layers=4, num_attention_heads=8,
                      num_key_value_heads=2, vocab_size=8000, use_cache=False)
    return masked(transformers.Qwen2ForCausalLM(config), tokens(1, 32, 8000))


@network("clip")
def clip():
    import torch
    import transformers
    small = dict(hidden_size=256, intermediate_size=512, num_hidden_layers=3,
                 num_attention_heads=4)
    config = transformers.CLIPConfig(text_config=dict(small),
                                     vision_config=dict(small))
    model = transformers.CLIPModel(config)
    ids = tokens(2, 16, 49000)
    return (First(model, "logits_per_image", "text_embeds", "image_embeds",
                  keys=("input_ids", "pixel_values", "attention_mask")),
            (ids, torch.randn(2, 3, 224, 224), torch.ones_like(ids)), None)


@network("lstm_tagger")
def lstm_tagger():
    import torch
    from torch import nn

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(500, 64)
            self.lstm = nn.LSTM(64, 128, num_layers=2, bidirectional=True,
                                batch_first=True)
            self.gru = nn.GRU(256, 64, batch_first=True)
            self.head = nn.Linear(64, 17)

        def forward(self, ids):
            states, _ = self.lstm(self.embed(ids))
            states, last = self.gru(states)
            return torch.log_softmax(self.head(states), -1), last
    return Tagger(), (tokens(2, 21, 500),), None


@network("unet")
def unet():
    import torch
    from torch import nn

    def block(before, after):
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after),
            nn.ReLU(), nn.Conv2d(after, after, 3, padding=1),
            nn.GroupNorm(4, after), nn.SiLU())

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList([block(3, 16), block(16, 32)])
            self.middle = block(32, 64)
            self.widen = nn.ConvTranspose2d(64, 32, 2, stride=2)
            self.up = nn.ModuleList([block(64, 32), block(48, 16)])
            self.head = nn.Conv2d(16, 4, 1)

        def forward(self, x):
            a = self.down[0](x)
            b = self.down[1](nn.functional.max_pool2d(a, 2))
            c = self.middle(nn.functional.max_pool2d(b, 2))
            b = self.up[0](torch.cat([self.widen(c), b], 1))
            b = nn.functional.interpolate(b, scale_factor=2, mode="bilinear",
                                          align_corners=False)
            return self.head(self.up[1](torch.cat([b, a], 1)))
    return UNet(), (torch.randn(1, 3, 64, 96),), {0: "batch"}

# What ONNX Runtime makes of networks: nodes on codes, codes of what each run
# gives, and floats between two conversions.
QUANTIZED = {"resnet18": ("operators", "dynamic", "qdq"),
             "mobilenet_v3_small": ("operators", "dynamic", "qdq"),
             "bert": ("dynamic", "qdq")}

#===- Making ---------------------------------------------------------------===#


def write_case(folder, model_path, inputs, is_quantized=False):
    """Outputs of ONNX Runtime, as the backend suite has them."""
    import numpy
    import onnx
    import onnxruntime
    from onnx import numpy_helper
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model_path, options, providers=["CPUExecutionProvider"])
    feeds = {entry.name: value
             for entry, value in zip(session.get_inputs(), inputs)}
    outputs = session.run(None, feeds)
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    for index, (name, value) in enumerate(feeds.items()):
        with open(f"{data}/input_{index}.pb", "wb") as file:
            file.write(numpy_helper.from_array(value, name).SerializeToString())
    scale = 1e-30
    for index, (entry, value) in enumerate(zip(session.get_outputs(), outputs)):
        value = numpy.asarray(value)
        if value.dtype.kind == "f":
            finite = abs(value[numpy.isfinite(value)])
            scale = max(scale, float(finite.max(initial=0)))
        with open(f"{data}/output_{index}.pb", "wb") as file:
            tensor = numpy_helper.from_array(value, entry.name)
            file.write(tensor.SerializeToString())
    # Two ways of f32 sums differ by some units of the largest value; what
    # is next to nothing is none of it. Of quantized networks the last place of a
    # sum moves codes: ONNX Runtime is up to three of them from itself without
    # its optimizations.
    share = 3.1 / 127 if is_quantized else 1e-4
    with open(f"{folder}/info.json", "w") as file:
        json.dump({"rtol": 1e-3, "atol": max(share * scale, 1e-6)}, file)


def liven(model, inputs):
    """Statistics and zeros as a training would leave them: outputs are
    neither all alike nor next to nothing."""
    import torch
    norms = [each for each in model.modules()
             if isinstance(each, torch.nn.modules.batchnorm._BatchNorm)]
    with torch.no_grad():
        for parameter in model.parameters():
            if not parameter.any():
                parameter.normal_(0, 0.02)
        for norm in norms:
            norm.train()
            norm.momentum = None
        if norms and not isinstance(inputs[0], list):
            model(*[torch.randn((8,) + each.shape[1:])
                    if each.is_floating_point() else each for each in inputs])
    model.eval()


def export(name, folder, dynamo):
    import torch
    torch.manual_seed(1)
    torch.backends.mha.set_fastpath_enabled(False)
    make, _ = NETWORKS[name]
    model, inputs, dynamic = make()
    model.eval()
    liven(model, inputs)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "model.onnx")
    options = {"dynamo": dynamo, "verbose": False}
    if not dynamo:
        options["opset_version"] = 17
        names = [f"input{index}" for index in range(len(inputs))]
        options["input_names"] = names
        if dynamic and not isinstance(inputs[0], list):
            options["dynamic_axes"] = {
                each: {axis: label for axis, label in dynamic.items()
                       if axis < value.dim()}
                for each, value in zip(names, inputs)}
    with torch.no_grad():
        torch.onnx.export(model, inputs, path, **options)
    flat = inputs[0] if isinstance(inputs[0], list) else inputs
    write_case(folder, path, [value.numpy() for value in flat])


def quantize(source, folder, kind):
    import onnx
    from onnx import numpy_helper
    from onnxruntime import quantization
    from onnxruntime.quantization import QuantFormat, QuantType
    paths = sorted(os.listdir(source + "/test_data_set_0"))
    given = [onnx.load_tensor(f"{source}/test_data_set_0/{path}")
             for path in paths if path.startswith("input_")]
    inputs = {each.name: numpy_helper.to_array(each) for each in given}

    class Reader(quantization.CalibrationDataReader):
        left = [inputs]

        def get_next(self):
            return self.left.pop() if self.left else None

    os.makedirs(folder, exist_ok=True)
    path = folder + "/model.onnx"
    if kind == "dynamic":
        quantization.quantize_dynamic(source + "/model.onnx", path)
    else:
        quantization.quantize_static(
            source + "/model.onnx", path, Reader(),
            quant_format=QuantFormat.QDQ if kind == "qdq"
            else QuantFormat.QOperator,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
            per_channel=kind == "qdq")
    write_case(folder, path, list(inputs.values()), is_quantized=True)


def make_rapidocr(directory):
    import glob
    import shutil

    import numpy
    import rapidocr_onnxruntime
    root = os.path.dirname(rapidocr_onnxruntime.__file__)
    shapes = {"det": [(1, 3, 160, 224), (1, 3, 96, 320)],
              "rec": [(2, 3, 48, 160)], "cls": [(3, 3, 48, 192)]}
    for path in sorted(glob.glob(root + "/models/*.onnx")):
        part = next((each for each in shapes
                     if f"_{each}_" in os.path.basename(path)), None)
        if not part:
            continue
        for number, shape in enumerate(shapes[part]):
            folder = os.path.join(directory, f"rapidocr_{part}_{number}")
            os.makedirs(folder, exist_ok=True)
            shutil.copy(path, folder + "/model.onnx")
            values = numpy.random.default_rng(3).uniform(-1, 1, shape)
            write_case(folder, path, [values.astype(numpy.float32)])


def made(folder, work):
    try:
        work()
        print("made", folder, flush=True)
        return True
    except Exception as error:  # of PyTorch, or of ONNX Runtime
        traceback.print_exc(limit=3)
        print(f"not made: {folder}: {str(error)[:300]}", flush=True)
        return False


def make(directory, names):
    failures = 0
    if not names or "rapidocr" in names:
        make_rapidocr(directory)
    for name, (_, options) in NETWORKS.items():
        if names and name not in names:
            continue
        for dynamo in (False, True):
            if options.get("dynamo", dynamo) != dynamo:
                continue
            folder = os.path.join(directory,
                                  name + ("_dynamo" if dynamo else ""))
            if os.path.exists(folder + "/info.json"):
                continue
            failures += not made(folder, lambda: export(name, folder, dynamo))
        for kind in QUANTIZED.get(name, ()):
            source, folder = f"{directory}/{name}", f"{directory}/{name}_{kind}"
            if not os.path.exists(folder + "/info.json"):
                failures += not made(
                    folder, lambda: quantize(source, folder, kind))
    return failures

#===- Checking -------------------------------------------------------------===#


def check(sinter, directory):
    """A process each: how long one takes, and what it says, is its own."""
    import time
    bad = 0
    for name in sorted(os.listdir(directory)):
        folder = os.path.join(directory, name)
        if not os.path.exists(folder + "/info.json"):
            continue
        start = time.monotonic()
        done = subprocess.run([sinter, "check", "--list", "--differences",
                               folder], capture_output=True, text=True,
                              timeout=900)
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        passed = done.returncode == 0 and "0 unsupported" in done.stdout
        bad += not passed
        print(f"{name:34} {time.monotonic() - start:6.1f} s  "
              f"{lines[0] if lines else done.returncode}", flush=True)
    return bad


def setup(folder, packages=tuple(PACKAGES),
          needs="import torch, onnxscript, transformers, torchvision, "
                "rapidocr_onnxruntime"):
    """The environment's Python; None where it cannot be made."""
    python = os.path.join(folder, "bin/python")
    if not os.path.exists(python):
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", needs],
                      capture_output=True).returncode == 0:
        return python
    done = subprocess.run([python, "-m", "pip", "install", "-q", *packages])
    return python if done.returncode == 0 else None


def main():
    verb = sys.argv[1]
    if verb == "make":
        return make(sys.argv[2], sys.argv[3:])
    if verb == "check":
        return check(sys.argv[2], sys.argv[3])
    if verb == "setup":
        return 0 if setup(sys.argv[2]) else SKIPPED
    python = setup(os.path.join(sys.argv[3], "venv"))
    if not python:
        print("skipped: the environment cannot be made")
        return SKIPPED
    models = os.path.join(sys.argv[3], "models")
    made = subprocess.run([python, __file__, "make", models]).returncode
    return 1 if made + check(sys.argv[2], models) else 0


if __name__ == "__main__":
    sys.exit(main())
