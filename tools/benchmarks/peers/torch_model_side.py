"""PyTorch's side of the models, on SINTER_BENCH_DEVICE: a case names the
`mode`, eager, compile or autotune. One process measures one model."""

import gc
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch  # noqa: E402
import worker  # noqa: E402
from models import (bert, dcgan, gpt2, llama, lstm,  # noqa: E402
                    mobilenet, moe, resnet, unet, vit, wavenet)
from torch_side import setup  # noqa: E402
from worker import DEVICE, Unsupported, Work  # noqa: E402

KINDS = {"bert": bert, "dcgan": dcgan, "gpt2": gpt2, "llama": llama,
         "lstm": lstm, "mobilenet": mobilenet, "moe": moe, "resnet": resnet,
         "unet": unet, "vit": vit, "wavenet": wavenet}
ON_GPU = DEVICE != "cpu"
# Of torch.compile; CUDA graphs are for GPUs.
MODES = {"compile": "reduce-overhead" if ON_GPU else "default",
         "autotune": "max-autotune"}
SAMPLES = 61


def compiled(function, mode):
    if mode == "eager":
        return function
    return torch.compile(function, mode=MODES[mode], dynamic=False)


def sampled(value):
    """Evenly spaced elements, which later calls do not overwrite."""
    flat = value.detach().reshape(-1)
    last, count = flat.numel() - 1, min(SAMPLES, flat.numel())
    at = [i * last // max(1, count - 1) for i in range(count)]
    return flat[torch.tensor(at, device=flat.device)].float().cpu().numpy()


def work_of(call, values):
    if not ON_GPU:
        return Work(call, lambda _: values())
    return Work(call, lambda _: values(), torch.cuda.synchronize,
                torch.cuda.max_memory_allocated)


def forward_work(forward, mode):
    run, first = compiled(forward, mode), []
    after = getattr(forward, "after", lambda: None)

    def call():
        with torch.no_grad():
            y = run()
            after()
        if not first:
            first.append(sampled(y))

    return work_of(call, lambda: first[0])


def training_work(model, loss_of, trainer, mode):
    if trainer == "adamw":
        optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    else:
        optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9,
                                    fused=True)
    run, losses = compiled(loss_of, mode), []

    def call():
        optimizer.zero_grad(set_to_none=True)
        loss = run()
        loss.backward()
        optimizer.step()
        if len(losses) < 3:
            losses.append(loss.item())

    return work_of(call, lambda: losses)


def make(case):
    if case.kind not in KINDS:
        raise Unsupported("no model " + case.kind)
    torch._dynamo.reset()
    gc.collect()
    model, forward, loss_of, trainer = KINDS[case.kind].make(case)
    if ON_GPU:  # of steps alone
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    mode = case.text("mode")
    if case.text("do") == "train":
        return training_work(model, loss_of, trainer, mode)
    model.eval()
    return forward_work(forward, mode)


if __name__ == "__main__":
    worker.serve(make, setup())
