#!/usr/bin/env python3
"""Programs of torch.export with one operator or one feature each.

    op_cases.py make DIR [NAME...]    in an environment with PyTorch
    op_cases.py targets DIR...        counts the operators of all cases
    op_cases.py small FOLDER          the few that the repository holds

`make` writes a case (cases.py) each: NAME of fixed sizes, NAME_symbolic with
two sets of sizes, NAME_core where the core operators are others. Features also
come in the layouts of older releases: NAME_2_6 and NAME_2_8.
"""

import collections
import logging
import os
import shutil
import sys
import time
import traceback
import warnings

import cases

# These features are written in each layout of archives.
LAYOUTS = ("buffer_counter", "tied_weights", "weight_views",
           "buffers_not_saved", "tensor_constants", "derived_sizes",
           "cond_with_weights", "nested_inputs", "half_weights",
           "frozen_part", "sizes_as_values", "while_until")
# What the repository holds, for tests that have no PyTorch.
SMALL = ("conv2d", "max_pool2d_indices", "lstm_state", "tied_weights",
         "tensor_constants", "derived_sizes", "cond_on_value", "while_counted",
         "map_rows", "nested_inputs", "unbacked_item", "view_written",
         "scalar_inputs", "weights_and_batch", "weight_views", "weight_views_2_6",
         "weight_views_2_8", "write_reshape_of_turned", "write_strided",
         "buffer_in_rows", "slice_to_five", "buffers_not_saved_2_6", "custom_operator",
         "lstm_states_of_2_11")
SMALL_LIMIT = 20_000


def table():
    from ops import (compositions, elementwise, layers, reductions, shapes,
                     windows)
    from ops.table import CASES
    del compositions, elementwise, layers, reductions, shapes, windows
    return CASES


def features():
    from ops import aliases, older
    from ops.features import FEATURES
    del aliases, older
    return FEATURES


def seed(name):
    import torch
    torch.manual_seed(sum(ord(letter) * place
                          for place, letter in enumerate(name, 1)))


class Program:
    """Makes a module of a function."""

    def __new__(cls, function):
        import torch
        if isinstance(function, torch.nn.Module):
            return function

        class Module(torch.nn.Module):
            def forward(self, *inputs):
                return function(*inputs)
        return Module()


def symbolic_shapes(module, inputs, others):
    """Axes whose sizes differ between two sets of inputs, or None."""
    import inspect

    import torch

    def axes(one, other):
        if isinstance(one, (list, tuple)):
            return type(one)(axes(a, b) for a, b in zip(one, other))
        return {axis: torch.export.Dim.AUTO
                for axis, size in enumerate(one.shape)
                if size != other.shape[axis]}
    entries = tuple(axes(a, b) for a, b in zip(inputs, others))
    if not any(cases.leaves(entries)):
        return None
    kinds = [(each.kind, name) for name, each in
             inspect.signature(module.forward).parameters.items()]
    fixed = [name for each, name in kinds
             if each == inspect.Parameter.POSITIONAL_OR_KEYWORD]
    if len(fixed) < len(entries):
        return entries[:len(fixed)] + (entries[len(fixed):],)
    return entries


def export(module, arguments, keywords, shapes=None):
    import torch
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(module, tuple(arguments), keywords or None,
                                   dynamic_shapes=shapes)


def targets(program):
    import torch
    return {str(node.target) for module in program.graph_module.modules()
            if isinstance(module, torch.fx.GraphModule)
            for node in module.graph.nodes if node.op == "call_function"}


class Maker:
    def __init__(self, directory, names):
        self.directory = directory
        self.names = names
        self.failures = []
        self.count = 0

    def wants(self, name):
        return not self.names or name in self.names

    def attempt(self, name, work):
        folder = os.path.join(self.directory, name)
        if os.path.exists(folder + "/case.json"):
            return
        try:
            work(folder)
            self.count += 1
        except Exception as error:  # of PyTorch
            self.failures.append(name)
            shutil.rmtree(folder, ignore_errors=True)
            if self.names:
                traceback.print_exc()
            first = str(error).strip().split("\n")[0]
            print(f"not made: {name}: {type(error).__name__}: {first[:200]}",
                  flush=True)

    def core(self, name, program, module, sets, options):
        if options.pop("core", True):
            def write(folder):
                decomposed = program.run_decompositions()
                if targets(decomposed) != targets(program):
                    cases.write(folder, decomposed, module, sets, **options)
            self.attempt(name + "_core", write)

    def operator(self, name, function, inputs, options):
        module = Program(function)
        options = dict(options)
        has_symbols = options.pop("symbolic", True)
        seed(name)
        sets = [(tuple(inputs(3)), {}), (tuple(inputs(5)), {})]
        programs = []

        def fixed(folder):
            programs.append(export(module, *sets[0]))
            plain = {key: each for key, each in options.items()
                     if key != "core"}
            cases.write(folder, programs[0], module, sets[:1], **plain)
        self.attempt(name, fixed)
        if not programs:
            return
        self.core(name, programs[0], module, sets[:1], dict(options))
        shapes = symbolic_shapes(module, sets[0][0], sets[1][0])
        if shapes and has_symbols:
            def symbolic(folder):
                program = export(module, *sets[0], shapes)
                if not program.range_constraints:
                    print(f"without symbols: {name}", flush=True)
                    return
                plain = {key: each for key, each in options.items()
                         if key != "core"}
                cases.write(folder, program, module, sets, **plain)
            self.attempt(name + "_symbolic", symbolic)

    def feature(self, name, make):
        seed(name)

        def work(folder):
            import copy
            given = make()
            module, sets = given.pop("module"), given.pop("sets")
            shapes = given.pop("shapes", None)
            program = export(module, *copy.deepcopy(sets[0]), shapes)
            cases.write(folder, program, module, sets, **given)
            if "edit" in given or given.get("expect") == "refused":
                return
            self.core(name, program, module, sets, dict(given))
            for layout in ("2.6", "2.8") if name in LAYOUTS else ():
                self.attempt(f"{name}_{layout.replace('.', '_')}",
                             lambda path: cases.write(
                                 path, program, module, sets, saver=layout,
                                 **given))
        self.attempt(name, work)


def make(directory, names):
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    start = time.monotonic()
    maker = Maker(directory, names)
    for name, (function, inputs, options) in table().items():
        if maker.wants(name):
            maker.operator(name, function, inputs, options)
    for name, entry in features().items():
        if maker.wants(name):
            maker.feature(name, entry)
    print(f"{maker.count} made in {time.monotonic() - start:.0f} s, "
          f"{len(maker.failures)} not")
    return len(maker.failures)


def core_overloads():
    import torch
    found = set()
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::"):
            packet = getattr(torch.ops.aten, schema.name[6:])
            overload = getattr(packet, schema.overload_name or "default", None)
            if overload is not None and torch.Tag.core in overload.tags:
                found.add(f"torch.ops.{overload}")
    return found


def count_targets(directories):
    """Each target with how often it occurs, then what no case has."""
    found = collections.Counter()
    for directory in directories:
        for name in sorted(os.listdir(directory)):
            path = os.path.join(directory, name, "model.pt2")
            if os.path.exists(path):
                cases.targets_of(cases.document_of(path), found)
    for target, count in sorted(found.items(), key=lambda each: -each[1]):
        print(f"{count:6} {target}")
    for target in sorted(core_overloads() - set(found)):
        print(f"     0 {target}")
    return 0


def make_small(folder):
    """Cases in no more than SMALL_LIMIT bytes each."""
    names = {name[:-4] if name.endswith(("_2_6", "_2_8")) else name
             for name in SMALL}
    failures = make(folder, names)
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if not os.path.isdir(path):
            continue
        size = sum(os.path.getsize(os.path.join(path, each))
                   for each in os.listdir(path))
        if name not in SMALL or size > SMALL_LIMIT:
            print(f"left out: {name}, {size} bytes")
            shutil.rmtree(path)
    return failures


def main():
    verb = sys.argv[1]
    if verb == "make":
        return 1 if make(sys.argv[2], sys.argv[3:]) else 0
    if verb == "targets":
        return count_targets(sys.argv[2:])
    return make_small(sys.argv[2])


if __name__ == "__main__":
    sys.exit(main())
