"""Cases of PyTorch programs: a folder of model.pt2, case.safetensors and
case.json.

case.safetensors holds, of set 0, `in.K` and `out.K`: the leaves of what the
program is given and of what PyTorch gives for it; of set 1 `in1.K` and
`out1.K`. Numbers that are not tensors are tensors of rank 0; None has no entry.
`after.NAME` is a buffer once all sets have run in their order on one module,
and `mutated.K` an input of set 0 that the program has written.

case.json:
  inputs, outputs  [{"name", "kind"}], kind one of tensor, int, float, bool,
                   none and string (which has its "value")
  rtol     how far a float output may be off, relative to the largest finite
           magnitude of that output; all else is equal
  expect   "equal"; "shapes" where values are random; "refused" where a reader
           must say that it does not take the file, with the "reason"
  train    {"rate", "output"}: `loss` is what steps of gradient descent give,
           the mean of the squares of that output less `target`, before each
           step. `after.NAME` then is of the state after the steps.
"""

import copy
import io
import json
import os
import re
import warnings
import zipfile

RTOL = 1e-4


def leaves(value):
    from torch.utils import _pytree
    return _pytree.tree_leaves(value)


def kind(value):
    import torch
    if isinstance(value, torch.Tensor):
        return "tensor"
    return "none" if value is None else {
        "str": "string"}.get(type(value).__name__, type(value).__name__)


def stored(value):
    """A copy that shares nothing, as safetensors needs it."""
    import torch
    if not isinstance(value, torch.Tensor):
        dtype = {bool: torch.bool, int: torch.int64, float: torch.float64}
        value = torch.tensor(value, dtype=dtype[type(value)])
    return value.detach().resolve_conj().resolve_neg().clone(
        memory_format=torch.contiguous_format)


def split_complex(tensors):
    """Safetensors of PyTorch have complex64 alone."""
    import torch
    return {name: value.to(torch.complex64)
            if value.dtype == torch.complex128 else value
            for name, value in tensors.items()}


def add_values(tensors, prefix, values):
    for index, value in enumerate(values):
        if value is not None and not isinstance(value, str):
            tensors[f"{prefix}.{index}"] = stored(value)


def described(names, values):
    entries = []
    for name, value in zip(names, values):
        entry = {"name": name, "kind": kind(value)}
        if isinstance(value, str):
            entry["value"] = value
        entries.append(entry)
    return entries


def shorten_traces(program):
    """Traces name files of this machine; the last two parts are enough."""
    import torch
    for module in program.graph_module.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        for node in module.graph.nodes:
            trace = node.meta.get("stack_trace")
            if trace:
                node.meta["stack_trace"] = re.sub(
                    r'File "[^"]*?([^"/]+/[^"/]+)"', r'File "\1"', trace)


def save(program, path):
    import torch
    shorten_traces(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(program, path)


#===- Older layouts --------------------------------------------------------===#

NEWER_FIELDS = {"is_hop_single_tensor_return", "sym_float_values",
                "treespec_namedtuple_fields", "torch_version", "guards_code"}


def strip_newer(value, is_node=False):
    """What a writer of schema 8.2 did not have."""
    if isinstance(value, list):
        return [strip_newer(each, is_node) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: strip_newer(each, key == "nodes")
            for key, each in value.items()
            if key not in NEWER_FIELDS and not (is_node and key == "name")}


def serialized(program):
    from torch._export.serde import serialize
    shorten_traces(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        artifact = serialize.serialize(program)
    document = strip_newer(json.loads(artifact.exported_program))
    document["schema_version"] = {"major": 8, "minor": 2}
    return artifact, json.dumps(document)


def save_2_6(program, path):
    """The files of PyTorch 2.6: all at the root, tensors pickled."""
    artifact, document = serialized(program)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("serialized_exported_program.json", document)
        archive.writestr("serialized_state_dict.pt", artifact.state_dict)
        archive.writestr("serialized_constants.pt", artifact.constants)
        archive.writestr("serialized_example_inputs.pt",
                         artifact.example_inputs)
        archive.writestr("version", "8.2")


def save_2_8(program, path):
    """The files of PyTorch 2.8: the folders of today, weights and constants
    a pickled file each."""
    artifact, document = serialized(program)
    root = os.path.splitext(os.path.basename(path))[0]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (
                ("models/model.json", document),
                ("data/weights/model.pt", artifact.state_dict),
                ("data/constants/model.pt", artifact.constants),
                ("data/sample_inputs/model.pt", artifact.example_inputs),
                ("archive_format", "pt2"), ("archive_version", "0"),
                (".data/version", "3\n"), ("byteorder", "little")):
            archive.writestr(f"{root}/{name}", content)



def rewrite(path, edit):
    """Saves an archive once more after EDIT has changed its program and its
    other entries."""
    with zipfile.ZipFile(path) as archive:
        entries = {name.split("/", 1)[1]: archive.read(name)
                   for name in archive.namelist()}
    document = json.loads(entries["models/model.json"])
    edit(document, entries)
    entries["models/model.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr("model/" + name, content)


SAVERS = {"2.15": save, "2.8": save_2_8, "2.6": save_2_6}

#===- Writing --------------------------------------------------------------===#


def call(module, arguments, keywords):
    """What a module gives, and the inputs as it leaves them."""
    import torch
    arguments, keywords = copy.deepcopy((arguments, keywords))
    with torch.no_grad():
        result = module(*arguments, **keywords)
    return leaves(result), leaves((arguments, keywords))


def changed(before, after):
    import torch
    if not isinstance(before, torch.Tensor):
        return False
    return not torch.equal(torch.nan_to_num(before.float())
                           if before.is_floating_point() else before,
                           torch.nan_to_num(after.float())
                           if after.is_floating_point() else after)


def run_sets(module, sets, tensors):
    """Fills the tensors of a case by running a copy of the module."""
    module = copy.deepcopy(module)
    buffers = {name: value.clone() for name, value in module.named_buffers()}
    first = None
    for number, (arguments, keywords) in enumerate(sets):
        outputs, left = call(module, arguments, keywords)
        inputs = leaves((arguments, keywords))
        suffix = str(number) if number else ""
        add_values(tensors, "in" + suffix, inputs)
        add_values(tensors, "out" + suffix, outputs)
        if not number:
            first = (inputs, outputs)
            for index, (value, after) in enumerate(zip(inputs, left)):
                if changed(value, after):
                    tensors[f"mutated.{index}"] = stored(after)
    for name, value in module.named_buffers():
        if changed(buffers[name], value):
            tensors["after." + name] = stored(value)
    return first


def write(folder, program, module, sets, saver="2.15", **options):
    """A case of a program that was exported from a module. SETS are pairs of
    arguments and keywords; options go to case.json."""
    tensors = options.pop("tensors", {})
    os.makedirs(folder, exist_ok=True)
    edit = options.pop("edit", None)
    SAVERS[saver](program, os.path.join(folder, "model.pt2"))
    if edit:
        rewrite(os.path.join(folder, "model.pt2"), edit)
    inputs, outputs = run_sets(module, sets, tensors)
    finish(folder, program, inputs, outputs, tensors, sets=len(sets),
           layout=saver, **options)


def finish(folder, program, inputs, outputs, tensors, **options):
    import safetensors.torch
    safetensors.torch.save_file(
        split_complex(tensors), os.path.join(folder, "case.safetensors"))
    signature = program.graph_signature
    names = [spec.arg.name for spec in signature.input_specs
             if spec.kind.name == "USER_INPUT"]
    given = [spec.arg.name for spec in signature.output_specs
             if spec.kind.name == "USER_OUTPUT"]
    document = {"inputs": described(names, inputs),
                "outputs": described(given, outputs),
                "rtol": RTOL, "expect": "equal"}
    document.update(options)
    path = os.path.join(folder, "case.json")
    with open(path, "w") as file:
        json.dump(document, file, indent=1)


#===- Reading back ---------------------------------------------------------===#


def document_of(path):
    """The JSON program of an archive of any layout."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(("models/model.json",
                              "serialized_exported_program.json")):
                return json.load(io.BytesIO(archive.read(name)))
    raise ValueError(f"{path}: no program")


def targets_of(value, found):
    """Counts the targets of all graphs, inner ones, too."""
    if isinstance(value, dict):
        if "target" in value and "outputs" in value and "inputs" in value:
            found[value["target"]] += 1
        for each in value.values():
            targets_of(each, found)
    elif isinstance(value, list):
        for each in value:
            targets_of(each, found)
