"""Changes in place of what is, or is no longer, a view."""

import torch

from ops.features import Of, f, feature


def changed(name, function):
    """The tensor that the view was made of comes back."""
    def make():
        return dict(module=Of(function), sets=[((f(3, 4),), {})])
    make.__name__ = name
    feature(make)


def view_and_write(view, write):
    def forward(self, x):
        base = x * 2
        write(view(base))
        return base
    return forward


VIEWS = {
    "contiguous_of_dense": lambda z: z.contiguous(),
    "contiguous_of_turned": lambda z: z.t().contiguous(),
    "contiguous_last": lambda z: z.reshape(1, 3, 2, 2).contiguous(
        memory_format=torch.channels_last),
    "reshape_of_dense": lambda z: z.reshape(2, 6),
    "reshape_of_turned": lambda z: z.t().reshape(2, 6),
    "reshape_within_axes": lambda z: z.t().reshape(2, 2, 3),
    "flatten_of_turned": lambda z: z.t().flatten(),
    "flatten_of_slice": lambda z: z[:, 1:3].flatten(),
    "reshape_of_rows": lambda z: z[1:].reshape(-1),
    "strided": lambda z: z.as_strided((3,), (5,)),
    "chunks": lambda z: z.chunk(2, 1)[1],
    "unbound": lambda z: z.unbind(1)[2],
}
for name, view in VIEWS.items():
    changed(f"write_{name}", view_and_write(view, lambda y: y.fill_(1)))
    changed(f"add_{name}", view_and_write(view, lambda y: y.add_(1)))


def listed_buffer(name, change):
    def make():
        module = Of(change)
        module.register_buffer("kept", torch.arange(6.0).reshape(3, 2),
                               persistent=False)
        return dict(module=module, sets=[((f(2),), {})] * 3)
    make.__name__ = name
    feature(make)


def in_chunks(self, x):
    first, second = self.kept.chunk(2)
    first.add_(x)
    second.mul_(2).add_(1)
    return self.kept * x


def in_rows(self, x):
    for row in self.kept.unbind(0):
        row.add_(x)
    return self.kept.sum()


listed_buffer("buffer_in_chunks", in_chunks)
listed_buffer("buffer_in_rows", in_rows)


@feature
def slice_to_five():
    """As long as the smallest axis that there may be: it stays five."""
    return dict(module=Of(lambda self, x: x[:5] * 2),
                sets=[((f(8, 3),), {}), ((f(5, 3),), {})],
                shapes=(({0: torch.export.Dim("n", min=5, max=100)},),))
