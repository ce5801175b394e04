/// What modules do with all their fields at once: files, devices, counting.
#pragma once

#include <sinter/Fields.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace sinter::detail {

/// The bytes of a tensor, dense and row-major. Evaluates it.
std::vector<std::byte> readBytes(const Tensor &tensor,
                                 std::source_location where);

/// Writes every Param, as its save mappers make it, under its path, and record
/// ids as metadata. Tensors are constants, which are not saved.
void saveFields(const Fields &fields, const std::string &file,
                std::source_location where);

/// Reads what saveFields wrote, or any safetensors file with the same names
/// and types; what a Param's load mappers read may be of any type. Every
/// missing, unexpected and differing tensor is listed in one error, and then
/// nothing was changed. A Param without a value gets no first value before. A
/// Tensor is read where the file has one of its path, as older files do.
void loadFields(const Fields &fields, const std::string &file,
                std::source_location where);

/// Makes the Params of `copy` those of `from` on a device; tied ones stay so.
void moveFields(const Fields &from, const Fields &copy, std::string_view device,
                std::source_location where);

/// Makes the Params and Tensors of `copy` those of `from`, floats as `dtype`;
/// tied ones stay so.
void castFields(const Fields &from, const Fields &copy, DType dtype,
                std::source_location where);

/// Gives every Param and Tensor a value, by one program per device.
void evalFields(const Fields &fields, std::source_location where);

/// Sets every Mode; with `on`, also ends what `stopTraining` began.
void setTraining(const Fields &fields, bool on);
/// Switches every Mode off, and every Param's wish for gradients, which it
/// remembers.
void stopTraining(const Fields &fields);

/// Elements of all Params, frozen ones too, but of those made not to be trained
/// (running statistics); a tied one counts once.
int64_t countElements(const Fields &fields);

/// The operand as a tensor.
Tensor tensorOf(const Arg &arg);

/// Index of the first of `params` with the cell of the one at `index`: itself
/// unless it is tied to an earlier one.
size_t firstWithCell(const std::vector<Fields::Field<Param>> &params,
                     size_t index);

/// Gives each Param of `copy` what `function(path, param)` makes of the one in
/// `from`; tied ones are made once and stay tied. The two may be the same.
template <typename F>
void mapParams(const Fields &from, const Fields &copy, F &&function) {
  std::vector<size_t> firsts;
  std::vector<Param> made(from.params.size());
  for (size_t i = 0; i < made.size(); ++i) {
    firsts.push_back(firstWithCell(from.params, i));
    if (firsts[i] == i)
      made[i] =
          function(from.params[i].path, std::as_const(*from.params[i].value));
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (firsts[i] != i)
      made[i].tie(*copy.params[firsts[i]].value);
    copy.params[i].value->become(std::move(made[i]));
  }
}

} // namespace sinter::detail
