"""Programs as older releases of PyTorch write them."""

import torch
from torch import nn

from ops.features import Of, f, feature


def names_in(value):
    """The tensors that an argument or a result names."""
    if isinstance(value, list):
        return {name for each in value for name in names_in(each)}
    if not isinstance(value, dict):
        return set()
    if "as_tensor" in value:
        return {value["as_tensor"]["name"]}
    return {name for each in value.values() for name in names_in(each)}


def misstate(document, entries):
    """Until 2.11, and maybe later, the states of an LSTM are written with an
    axis of one that they do not have, and what is computed from them, too."""
    graph = document["graph_module"]["graph"]
    misstated = set()
    for node in graph["nodes"]:
        given = names_in(node["outputs"])
        axis = 0
        if node["target"] == "torch.ops.aten.lstm.input":
            given -= names_in(node["outputs"][:1])
            axis = 1
        elif not names_in(node["inputs"]) & misstated:
            continue
        misstated |= given
        for name in given:
            tensor = graph["tensor_values"][name]
            tensor["sizes"].insert(axis, {"as_int": 1})
            tensor["strides"].insert(axis, {"as_int": 1})
    assert len(misstated) == 4, misstated


@feature
def lstm_states_of_2_11():
    def forward(self, x):
        last = self.lstm(x)[1][0]
        return last, self.head(last[-1])
    module = Of(forward, lstm=nn.LSTM(3, 4, bias=False, batch_first=True),
                head=nn.Linear(4, 2, bias=False))
    return dict(module=module, edit=misstate,
                sets=[((f(3, 5, 3),), {}), ((f(4, 5, 3),), {})],
                shapes=(({0: torch.export.Dim("batch", min=2, max=64)},),))
