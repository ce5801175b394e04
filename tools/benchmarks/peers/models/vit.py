import torch
from models.common import prepared
from models.resnet import classifier
from torch import nn


class Vit(nn.Module):
    def __init__(self, image, patch, size, heads, layers, classes):
        super().__init__()
        self.patches = nn.Conv2d(3, size, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, size))
        self.places = nn.Parameter(
            torch.zeros(1, 1 + (image // patch) ** 2, size))
        layer = nn.TransformerEncoderLayer(
            size, heads, 4 * size, dropout=0, activation="gelu",
            layer_norm_eps=1e-6, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers,
                                             nn.LayerNorm(size, eps=1e-6),
                                             enable_nested_tensor=False)
        self.head = nn.Linear(size, classes)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        first = self.token.expand(len(images), -1, -1)
        y = self.encoder(torch.cat([first, x], 1) + self.places)
        return self.head(y[:, 0])


def make(case):
    model = Vit(*case.numbers("image", "patch", "size", "heads", "layers",
                              "classes"))
    return classifier(prepared(model, case), case, "adamw")
