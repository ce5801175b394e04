import torch.nn.functional as functional
from models.common import inputs, prepared, whole_numbers
from torch import nn


class LstmClassifier(nn.Module):
    def __init__(self, inputs, hidden, layers, classes):
        super().__init__()
        self.lstm = nn.LSTM(inputs, hidden, layers, batch_first=True)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def make(case):
    batch, t, size, layers, classes = case.numbers("batch", "t", "size",
                                                   "layers", "classes")
    model = prepared(LstmClassifier(size, size, layers, classes), case)
    x = inputs(case, (batch, t, size), 1)
    kinds = whole_numbers((batch,), 2, classes)
    return (model, lambda: model(x),
            lambda: functional.cross_entropy(model(x), kinds), "adamw")
