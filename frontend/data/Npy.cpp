/// Tensors in NumPy's files.
#include <sinter/data/Npy.h>

#include "frontend/Leaves.h"
#include "frontend/Raise.h"
#include "runtime/params/Npz.h"

#include <sinter/ModuleFile.h>

namespace sinter::data {

static Tensor leafOf(const runtime::HostArray &array, const Options &options,
                     const SourceLine &where) {
  Dims dims(array.dims.begin(), array.dims.end());
  return detail::leafOf(array.bytes, array.dtype, dims, options, where);
}

/// The tensor's bytes go to `owned`.
static runtime::NamedTensor hostTensor(const std::string &name,
                                       const Tensor &tensor,
                                       std::vector<std::byte> &owned,
                                       std::source_location where) {
  owned = detail::readBytes(tensor, where);
  runtime::NamedTensor host{name, tensor.dtype(), {}, owned};
  for (Dim dim : tensor.shape())
    host.shape.push_back(dim.value);
  return host;
}

Tensor read_npy(const std::string &path, const Options &options,
                std::source_location where) try {
  return leafOf(detail::unwrap(runtime::readNpy(path), where), options, where);
} catch (...) {
  detail::raiseExhausted(where);
}

void write_npy(const std::string &path, const Tensor &tensor,
               std::source_location where) try {
  std::vector<std::byte> bytes;
  auto host = hostTensor({}, tensor, bytes, where);
  detail::unwrap(runtime::writeNpy(path, host), where);
} catch (...) {
  detail::raiseExhausted(where);
}

std::map<std::string, Tensor> read_npz(const std::string &path,
                                       const Options &options,
                                       std::source_location where) try {
  std::map<std::string, Tensor> tensors;
  for (const auto &[name, array] :
       detail::unwrap(runtime::readNpz(path), where))
    tensors.emplace(name, leafOf(array, options, where));
  return tensors;
} catch (...) {
  detail::raiseExhausted(where);
}

void write_npz(const std::string &path,
               const std::map<std::string, Tensor> &tensors,
               const NpzOptions &options, std::source_location where) try {
  std::vector<Tensor> values;
  for (const auto &[name, tensor] : tensors)
    values.push_back(tensor);
  eval(values, where);
  std::vector<std::vector<std::byte>> bytes(tensors.size());
  std::vector<runtime::NamedTensor> host;
  for (const auto &[name, tensor] : tensors)
    host.push_back(hostTensor(name, tensor, bytes[host.size()], where));
  auto method = options.compressed ? runtime::ZipMethod::deflated
                                   : runtime::ZipMethod::stored;
  detail::unwrap(runtime::writeNpz(path, host, method), where);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data
