# Writes the bytes of files, one after the other, as an array.
set(bytes "")
foreach(input ${INPUTS})
  file(READ ${input} part HEX)
  string(APPEND bytes "${part}")
endforeach()
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUTPUT}
  "#pragma once\ninline constexpr char ${NAME}[] = {${bytes}};\n")
