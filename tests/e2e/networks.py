"""Networks that people have, for the tests of the importers.

NETWORKS maps a name to (make, options): make() gives a module with random
weights, its inputs, and the names of the axes that may be of any size.
"""

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
        momenta = [norm.momentum for norm in norms]
        for norm in norms:
            norm.train()
            norm.momentum = None
        if norms and not isinstance(inputs[0], list):
            model(*[torch.randn((8,) + each.shape[1:])
                    if each.is_floating_point() else each for each in inputs])
        for norm, momentum in zip(norms, momenta):
            norm.momentum = momentum
    model.eval()
