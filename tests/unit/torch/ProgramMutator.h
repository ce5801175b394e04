/// ProgramMutator: alters the JSON of programs token by token, so that most
/// results are well formed and no programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::torch_test {

/// Alters one to four numbers, words and names of a text: they become others
/// that are odd, or others of the text; members are removed or exchanged. The
/// same arguments give the same result.
std::string mutateProgram(std::string_view text, uint64_t seed);

} // namespace sinter::torch_test
