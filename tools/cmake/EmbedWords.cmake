# Writes the words of a file, which has the low byte first, as an array.
file(READ ${INPUT} words HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," words "${words}")
file(WRITE ${OUTPUT}
  "#pragma once\n#include <cstdint>\ninline constexpr uint32_t ${NAME}[] = {${words}};\n")
