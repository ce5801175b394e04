"""The models of tools/benchmarks/models in PyTorch, as plainly written: each
`make(case)` gives the model, its forward pass, its loss and the name of its
optimizer."""
