import torch
import torch.nn.functional as functional
import worker
from models.common import prepared, whole_numbers
from torch import nn


class Bert(nn.Module):
    def __init__(self, words, longest, size, heads, layers):
        super().__init__()
        self.words = nn.Embedding(words, size)
        self.places = nn.Embedding(longest, size)
        self.types = nn.Embedding(2, size)
        self.norm = nn.LayerNorm(size, eps=1e-12)
        layer = nn.TransformerEncoderLayer(
            size, heads, 4 * size, dropout=0, activation="gelu",
            layer_norm_eps=1e-12, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers,
                                             enable_nested_tensor=False)
        self.pooler = nn.Linear(size, size)
        self.classifier = nn.Linear(size, 2)

    def forward(self, ids, padding):
        places = torch.arange(ids.shape[1], device=ids.device)
        x = (self.words(ids) + self.places(places)
             + self.types(torch.zeros_like(ids)))
        return self.encoder(self.norm(x), src_key_padding_mask=padding)

    def classify(self, ids, padding):
        first = self.forward(ids, padding)[:, 0]
        return self.classifier(torch.tanh(self.pooler(first)))


def padding_of(batch, t):
    lengths = [t * 3 // 4 if n % 2 else t for n in range(batch)]
    lengths[-1] = t // 2
    return (torch.arange(t)[None] >= torch.tensor(lengths)[:, None]).to(
        worker.DEVICE)


def make(case):
    batch, t, words = case.numbers("batch", "t", "words")
    model = prepared(Bert(words, *case.numbers("longest", "size", "heads",
                                               "layers")), case)
    ids, padding = whole_numbers((batch, t), 1, words), padding_of(batch, t)
    kinds = whole_numbers((batch,), 2, 2)

    def loss():
        return functional.cross_entropy(model.classify(ids, padding), kinds)

    return model, lambda: model(ids, padding), loss, "adamw"
