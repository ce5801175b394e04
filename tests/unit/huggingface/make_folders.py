#!/usr/bin/env python3
"""Makes the folders of this test: small models with random weights.

    make_folders.py          run where torch and transformers are installed

Each folder is one as transformers writes it, and golden.safetensors: inputs,
and what transformers gives for them.
"""

import copy
import json
import os
import pathlib
import shutil

os.environ["HF_HUB_OFFLINE"] = "1"
import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

FOLDERS = pathlib.Path(__file__).resolve().parent / "folders"

SIZES = dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
             intermediate_size=12, vocab_size=20)
DECODER = dict(SIZES, num_attention_heads=4, num_key_value_heads=2,
               head_dim=4, max_position_embeddings=16)
IDS = torch.tensor([[3, 7, 1, 19, 4, 11], [5, 2, 13, 8, 6, 9]])
RIGHT = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
LEFT = torch.tensor([[1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1]])


def make(kind, config):
    torch.manual_seed(1)
    model = getattr(transformers, kind)(config).eval()
    for name, value in model.named_parameters():
        if value.ndim == 1 and "norm" in name.lower() or "ln_" in name:
            value.data = 1 + 0.2 * torch.randn_like(value)
        else:
            value.data = 0.4 * torch.randn_like(value)
    return model


def write(name, model, golden, **options):
    folder = FOLDERS / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, **options)
    (folder / "generation_config.json").unlink(missing_ok=True)
    golden = {key: value.detach().contiguous() for key, value in golden.items()}
    save_file(golden, folder / "golden.safetensors")
    return folder


def encoder(name, kind, config, output, **inputs):
    model = make(kind, config)
    given = dict(input_ids=IDS, attention_mask=RIGHT, **inputs)
    result = model(**given)
    golden = {key: getattr(result, key) for key in output.split()}
    return write(name, model, {**given, **golden})


def losses(model):
    """Of three steps of gradient descent."""
    model = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    values = []
    for _ in range(3):
        scores = model(IDS[:, :-1]).logits
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1),
                                                 IDS[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        values.append(loss.detach())
    return torch.stack(values)


def decoder(name, kind, config, variants=None, **options):
    model = make(kind, config)
    golden = {"input_ids": IDS, "logits": model(IDS).logits,
              "attention_mask": LEFT}
    places = (LEFT.cumsum(1) - 1).clamp(min=0)
    golden["position_ids"] = places
    golden["losses"] = losses(model)
    golden["padded"] = model(IDS, attention_mask=LEFT,
                             position_ids=places).logits
    golden["generated"] = model.generate(
        IDS, max_new_tokens=6, do_sample=False, eos_token_id=None,
        pad_token_id=0)
    golden["generated.padded"] = model.generate(
        IDS, attention_mask=LEFT, max_new_tokens=6, do_sample=False,
        eos_token_id=None, pad_token_id=0)
    for variant, changes in (variants or {}).items():
        other = type(model)(type(config)(**{**config.to_dict(), **changes}))
        other.load_state_dict(model.state_dict())
        golden["logits." + variant] = other.eval()(IDS).logits
    return write(name, model, golden, **options)


def rope(kind, **values):
    return dict(rope_parameters=dict(rope_type=kind, rope_theta=100.0,
                                     **values))


def images(name, kind, output, **changes):
    sizes = {key: SIZES[key] for key in SIZES if key != "vocab_size"}
    model = make(kind, transformers.ViTConfig(
        **sizes, image_size=[8, 12], patch_size=4, num_labels=3, **changes))
    given = torch.randn(2, 3, 8, 12)
    result = model(given)
    golden = {key: getattr(result, key) for key in output.split()}
    return write(name, model, {"pixel_values": given, **golden})


def whisper():
    config = transformers.WhisperConfig(
        vocab_size=20, num_mel_bins=5, d_model=8, encoder_layers=1,
        decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=4,
        encoder_ffn_dim=12, decoder_ffn_dim=10, max_source_positions=6,
        max_target_positions=8, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=3)
    model = make("WhisperForConditionalGeneration", config)
    features = torch.randn(2, 5, 12)
    result = model(input_features=features, decoder_input_ids=IDS)
    words = IDS[:, :2]
    for _ in range(5):
        scores = model(input_features=features, decoder_input_ids=words).logits
        words = torch.cat([words, scores[:, -1:].argmax(-1)], 1)
    write("whisper", model, {
        "generated": words,
        "input_features": features, "decoder_input_ids": IDS,
        "logits": result.logits,
        "encoder_last_hidden_state": result.encoder_last_hidden_state})


def older_bert():
    """As TensorFlow's names were, and configs of 2019."""
    config = transformers.BertConfig(**SIZES, max_position_embeddings=8,
                                     num_labels=3)
    folder = encoder("bert-classifier", "BertForSequenceClassification",
                     config, "logits")
    weights = load_file(folder / "model.safetensors")
    weights = {key.replace("LayerNorm.weight", "LayerNorm.gamma")
                  .replace("LayerNorm.bias", "LayerNorm.beta"): value
               for key, value in weights.items()}
    weights["bert.embeddings.position_ids"] = torch.arange(8).reshape(1, 8)
    save_file(weights, folder / "model.safetensors")
    path = folder / "config.json"
    text = json.loads(path.read_text())
    text.pop("dtype")
    text.update(torch_dtype="float32", position_embedding_type="absolute",
                gradient_checkpointing=False, pruned_heads={})
    path.write_text(json.dumps(text, indent=2) + "\n")


def pairs_of_halves(rows, heads):
    """Rows of queries and keys in the order of llama.cpp."""
    shape = rows.shape
    apart = rows.reshape(heads, 2, shape[0] // heads // 2, -1)
    return apart.swapaxes(1, 2).reshape(shape)


GGUF_PARTS = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q",
              "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
              "self_attn.o_proj": "attn_output",
              "self_attn.q_norm": "attn_q_norm",
              "self_attn.k_norm": "attn_k_norm",
              "post_attention_layernorm": "ffn_norm",
              "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
              "mlp.down_proj": "ffn_down"}


def gguf_name(name):
    outer = {"model.embed_tokens": "token_embd", "model.norm": "output_norm",
             "lm_head": "output"}
    part, kind = name.rsplit(".", 1)
    if part in outer:
        return f"{outer[part]}.{kind}"
    layer, part = part.removeprefix("model.layers.").split(".", 1)
    return f"blk.{layer}.{GGUF_PARTS[part]}.{kind}"


def gguf_file(name):
    """The model of a folder as llama.cpp writes it, in the folder."""
    import gguf
    folder = FOLDERS / name
    config = json.loads((folder / "config.json").read_text())
    kind = config["model_type"]
    file = gguf.GGUFWriter(folder / "model.gguf", kind)
    file.add_block_count(config["num_hidden_layers"])
    file.add_context_length(config["max_position_embeddings"])
    file.add_embedding_length(config["hidden_size"])
    file.add_feed_forward_length(config["intermediate_size"])
    heads = config["num_attention_heads"]
    key_heads = config["num_key_value_heads"]
    file.add_head_count(heads)
    file.add_head_count_kv(key_heads)
    file.add_key_length(config["head_dim"])
    file.add_value_length(config["head_dim"])
    file.add_layer_norm_rms_eps(config["rms_norm_eps"])
    file.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    for key, value in load_file(folder / "model.safetensors").items():
        rows = value.numpy()
        if kind == "llama" and "q_proj" in key:
            rows = pairs_of_halves(rows, heads)
        if kind == "llama" and "k_proj" in key:
            rows = pairs_of_halves(rows, key_heads)
        file.add_tensor(gguf_name(key), rows)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def roberta():
    """As torch.save writes it."""
    folder = encoder("roberta", "RobertaModel", transformers.RobertaConfig(
        **SIZES, max_position_embeddings=9, pad_token_id=2),
        "last_hidden_state")
    weights = folder / "model.safetensors"
    torch.save(load_file(weights), folder / "pytorch_model.bin")
    weights.unlink()


def main():
    bert = transformers.BertConfig(**SIZES, max_position_embeddings=8)
    types = torch.tensor([[0, 0, 0, 1, 1, 1]] * 2)
    encoder("bert", "BertModel", bert, "last_hidden_state pooler_output",
            token_type_ids=types)
    older_bert()
    encoder("bert-masked-lm", "BertForMaskedLM",
            transformers.BertConfig(**SIZES, max_position_embeddings=8,
                                    hidden_act="quick_gelu"), "logits")
    roberta()
    encoder("distilbert-classifier", "DistilBertForSequenceClassification",
            transformers.DistilBertConfig(
                vocab_size=20, dim=8, n_layers=2, n_heads=2, hidden_dim=12,
                max_position_embeddings=8, num_labels=3), "logits")
    decoder("gpt2", "GPT2LMHeadModel",
            transformers.GPT2Config(vocab_size=20, n_positions=16, n_embd=8,
                                    n_layer=2, n_head=2,
                                    scale_attn_by_inverse_layer_idx=True),
            max_shard_size="4KB")
    long = dict(original_max_position_embeddings=8, factor=4.0)
    decoder("llama", "LlamaForCausalLM",
            transformers.LlamaConfig(**DECODER, attention_bias=True),
            variants={
                "linear": rope("linear", factor=2.0),
                "dynamic": {**rope("dynamic", factor=2.0),
                            "max_position_embeddings": 4},
                "llama3": rope("llama3", low_freq_factor=1.0,
                               high_freq_factor=4.0, **long),
                "yarn": rope("yarn", **long)})
    decoder("mistral", "MistralForCausalLM",
            transformers.MistralConfig(**DECODER, sliding_window=3))
    decoder("qwen2", "Qwen2ForCausalLM",
            transformers.Qwen2Config(
                vocab_size=20, hidden_size=8, num_hidden_layers=2,
                num_attention_heads=2, num_key_value_heads=1,
                intermediate_size=12, max_position_embeddings=16,
                use_sliding_window=True, sliding_window=2, max_window_layers=1,
                tie_word_embeddings=True))
    decoder("qwen3", "Qwen3ForCausalLM", transformers.Qwen3Config(**DECODER))
    images("vit", "ViTModel", "last_hidden_state pooler_output",
           pooler_output_size=6)
    images("vit-classifier", "ViTForImageClassification", "logits",
           qkv_bias=False)
    whisper()
    gguf_file("llama")
    gguf_file("qwen3")


if __name__ == "__main__":
    main()
