/// Inputs of `sinter run`: from files, numbers, or a seed.
#pragma once

#include "runtime/params/Npy.h"
#include "runtime/program/Program.h"
#include "tools/sinter/Arguments.h"
#include "tools/sinter/Model.h"

#include <string>
#include <vector>

namespace sinter::cli {

/// The flags of commands that give a model its inputs.
inline constexpr Flag inputFlag = {
    "--input", "NAME=FILE.npy",
    "an input by name or number; of a scalar, NAME=NUMBER"};
inline constexpr Flag randomInputsFlag = {"--random-inputs", "SEED",
                                          "fill the inputs that are not given"};
inline constexpr Flag randomDimFlag = {
    "--dim", "sN=VALUE", "a symbolic dim of random inputs (default 4)"};

/// A binding for every input of the program, by the flags --input,
/// --random-inputs and --dim. An error names the first input without a value.
/// What the file of an entry provides comes from there.
Result<std::vector<runtime::Binding>> bindInputs(const RunnableModel &model,
                                                 const Arguments &arguments);

/// The values that --dim gives this many symbols; 4 where it says nothing.
Result<std::vector<int64_t>> symbolValues(uint32_t count,
                                          const Arguments &arguments);

/// SINTER_DEVICE, or `cpu`.
std::string defaultDeviceName();

/// `1 2 3 ...`: the first elements of an array.
std::string firstElements(const runtime::HostArray &array, size_t count);

} // namespace sinter::cli
