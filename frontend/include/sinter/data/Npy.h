/// Tensors in NumPy's files: `.npy` holds one, `.npz` several by name.
#pragma once

#include <sinter/Creation.h>

#include <map>
#include <source_location>
#include <string>

namespace sinter::data {

/// The array of a file as a leaf with its dtype (or `options.dtype`) and its
/// shape, which never becomes symbolic by itself. Both byte orders, and
/// column-major files too. Errors name the file and what is wrong with it.
Tensor read_npy(const std::string &path, const Options &options = {},
                std::source_location where = std::source_location::current());

/// Evaluates a tensor and writes it; bf16 as `<V2`. The file is replaced at
/// once or stays as it was. A dtype that NumPy lacks is an error.
void write_npy(const std::string &path, const Tensor &tensor,
               std::source_location where = std::source_location::current());

/// All arrays of a file of `numpy.savez` or `numpy.savez_compressed`.
std::map<std::string, Tensor>
read_npz(const std::string &path, const Options &options = {},
         std::source_location where = std::source_location::current());

struct NpzOptions {
  bool compressed = false;
};

/// Evaluates the tensors as one program and writes them; below 4 GiB.
void write_npz(const std::string &path,
               const std::map<std::string, Tensor> &tensors,
               const NpzOptions &options = {},
               std::source_location where = std::source_location::current());

} // namespace sinter::data
