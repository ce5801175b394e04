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

/// Writes every Param and Tensor under its path, and record ids as metadata.
void saveFields(const Fields &fields, const std::string &file,
                std::source_location where);

/// Reads what saveFields wrote, or any safetensors file with the same names
/// and types. Every missing, unexpected and differing tensor is listed in one
/// error, and then nothing was changed.
void loadFields(const Fields &fields, const std::string &file,
                std::source_location where);

/// Makes the Params of `copy` those of `from` on a device; tied ones stay so.
void moveFields(const Fields &from, const Fields &copy, std::string_view device,
                std::source_location where);

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
/// `from`; tied ones are made once and stay tied.
template <typename F>
void mapParams(const Fields &from, const Fields &copy, F &&function) {
  for (size_t i = 0; i < from.params.size(); ++i) {
    size_t first = firstWithCell(from.params, i);
    Param &target = *copy.params[i].value;
    target = Param();
    if (first == i)
      target =
          function(from.params[i].path, std::as_const(*from.params[i].value));
    else
      target.tie(*copy.params[first].value);
  }
}

} // namespace sinter::detail
