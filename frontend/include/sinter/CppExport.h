/// Writes functions and modules as C++.
#pragma once

#include <sinter/Export.h>

#include <source_location>
#include <string>
#include <utility>

namespace sinter {

/// Writes a module's `forward`, or a function of tensors, as a header with a
/// module that does the same, and its parameters beside it: `net.h` and
/// `net.safetensors`. The function is called once, as `export_model` does.
///
///     sn::export_cpp("net.h", model, x, {.inputs = {"x"}});
///
///     #include "net.h"
///     Net net;
///     net.load("net.safetensors");
///     sn::Tensor y = net(x);
///
/// Parameters and constants are members by their names, made identifiers, and
/// can be trained where they could be; the class has the file's name. Of the
/// options names and dynamic axes are read. An Error of kind `unsupported`
/// names an op that there is no statement for: loops, branches, random numbers,
/// kernels and gradients of the user's. Statements say what is computed, and
/// gradients are theirs: where the function has `detach`, those of the class
/// flow on.
template <typename F, typename Inputs>
void export_cpp(const std::string &path, F &&function,
                const Inputs &example_inputs, const EntryOptions &options = {},
                std::source_location where = std::source_location::current()) {
  ModelExport file;
  file.add("main", std::forward<F>(function), example_inputs, options, where);
  file.write_cpp(path, where);
}

} // namespace sinter
