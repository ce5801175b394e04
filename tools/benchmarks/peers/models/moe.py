import torch
import torch.nn.functional as functional
from models.common import inputs, prepared
from torch import nn

CHOSEN = 2


class Moe(nn.Module):
    def __init__(self, size, hidden, experts):
        super().__init__()
        self.experts = experts
        self.router = nn.Parameter(torch.zeros(size, experts))
        self.experts1 = nn.Parameter(torch.zeros(experts, size, hidden))
        self.experts2 = nn.Parameter(torch.zeros(experts, hidden, size))

    def forward(self, x):
        tokens, size = x.shape
        experts = self.experts
        places = tokens * CHOSEN * 5 // (experts * 4)
        scores = x.float() @ self.router.float()
        best, chosen = torch.topk(torch.softmax(scores, -1), CHOSEN)
        share = best / best.sum(-1, keepdim=True)

        expert = chosen.flatten()
        mine = functional.one_hot(expert, experts)
        place = ((mine.cumsum(0) - 1) * mine).sum(-1)
        target = torch.where(place < places, expert * places + place,
                             experts * places)

        token = x.repeat_interleave(CHOSEN, 0)
        sent = x.new_zeros(experts * places + 1, size).index_add(
            0, target, token)
        taken = sent[:-1].view(experts, places, size)
        made = functional.gelu(taken @ self.experts1) @ self.experts2
        all_made = torch.cat([made.view(-1, size), x.new_zeros(1, size)])
        back = all_made[target].view(tokens, CHOSEN, size)
        return (back * share.unsqueeze(-1).to(x.dtype)).sum(1)


def make(case):
    tokens, size = case.numbers("tokens", "size")
    model = prepared(Moe(size, *case.numbers("hidden", "experts")), case)
    x, target = (inputs(case, (tokens, size), seed) for seed in (1, 2))
    return (model, lambda: model(x),
            lambda: functional.mse_loss(model(x), target), "adamw")
