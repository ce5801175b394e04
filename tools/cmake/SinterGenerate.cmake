# Code generated in the build folder, included as "sinter/generated/NAME".
#
# sinter_tablegen(OUTPUT FILE.td [TOOL mlir-tblgen|sinter-tblgen] FLAGS...)
#   runs a TableGen tool, by default mlir-tblgen.
# sinter_flatbuffer(SCHEMA.fbs [FLAGS...])
#   runs flatc; gives SCHEMA_generated.h.
#
# sinter_spirv(FILE.spvasm)
#   assembles a module; gives FILE.h with its words as `FILE`.
#
# sinter_text(NAME FILE...)
#   gives NAME.h with the bytes of the files, one after the other, as `NAME`.
#
# sinter_source_digest(FOLDER|FILE...)
#   makes SourceDigest.h: sinter::sourceDigest changes with any of the files and
#   any source file of the folders. Include it in few .cpp files: each is compiled again then.
#
# Every library waits for what sinter-tblgen and flatc make; a library that
# includes MLIR waits for mlir-tblgen too.

set(SINTER_GENERATED_ROOT ${PROJECT_BINARY_DIR}/generated)
set(SINTER_GENERATED_DIR ${SINTER_GENERATED_ROOT}/sinter/generated)
file(MAKE_DIRECTORY ${SINTER_GENERATED_DIR})
add_custom_target(sinter-tables)
add_custom_target(mlir-tables)

function(sinter_generated output group)
  string(MAKE_C_IDENTIFIER generate-${output} target)
  add_custom_target(${target} DEPENDS ${SINTER_GENERATED_DIR}/${output})
  add_dependencies(${group} ${target})
endfunction()

function(sinter_tablegen output td)
  cmake_parse_arguments(arg "" "TOOL" "" ${ARGN})
  if(NOT arg_TOOL OR arg_TOOL STREQUAL "mlir-tblgen")
    set(program ${SINTER_LLVM_DIR}/bin/mlir-tblgen)
    set(group mlir-tables)
  else()
    set(program $<TARGET_FILE:${arg_TOOL}>)
    set(group sinter-tables)
  endif()
  set(path ${SINTER_GENERATED_DIR}/${output})
  cmake_path(ABSOLUTE_PATH td OUTPUT_VARIABLE td_path)
  add_custom_command(OUTPUT ${path}
    COMMAND ${program} ${arg_UNPARSED_ARGUMENTS} ${td_path}
      -I ${PROJECT_SOURCE_DIR} -I ${CMAKE_CURRENT_SOURCE_DIR}
      -I ${SINTER_LLVM_DIR}/include
      --write-if-changed -o ${path} -d ${path}.d
    DEPENDS ${td_path} ${arg_TOOL}
    DEPFILE ${path}.d
    COMMENT "Generating ${output}"
    VERBATIM)
  sinter_generated(${output} ${group})
endfunction()

function(sinter_flatbuffer schema)
  cmake_path(GET schema STEM name)
  set(path ${SINTER_GENERATED_DIR}/${name}_generated.h)
  cmake_path(ABSOLUTE_PATH schema OUTPUT_VARIABLE schema_path)
  add_custom_command(OUTPUT ${path}
    COMMAND ${SINTER_FLATC} --cpp --cpp-std c++17 --scoped-enums ${ARGN}
      -I ${PROJECT_SOURCE_DIR} -o ${SINTER_GENERATED_DIR} ${schema_path}
    DEPENDS ${schema_path}
    COMMENT "Generating ${name}_generated.h"
    VERBATIM)
  sinter_generated(${name}_generated.h sinter-tables)
endfunction()

function(sinter_spirv assembly)
  cmake_path(GET assembly STEM name)
  set(path ${SINTER_GENERATED_DIR}/${name}.h)
  set(script ${PROJECT_SOURCE_DIR}/tools/cmake/EmbedWords.cmake)
  add_custom_command(OUTPUT ${path}
    COMMAND ${SINTER_SPIRV_AS} --target-env vulkan1.3 ${assembly} -o ${path}.spv
    COMMAND ${CMAKE_COMMAND} -DINPUT=${path}.spv -DNAME=${name}
      -DOUTPUT=${path} -P ${script}
    DEPENDS ${assembly} ${script}
    COMMENT "Generating ${name}.h"
    VERBATIM)
  sinter_generated(${name}.h sinter-tables)
endfunction()

function(sinter_text name)
  set(path ${SINTER_GENERATED_DIR}/${name}.h)
  set(script ${PROJECT_SOURCE_DIR}/tools/cmake/EmbedText.cmake)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_custom_command(OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} "-DINPUTS=${ARGN}" -DNAME=${name}
      -DOUTPUT=${path} -P ${script}
    DEPENDS ${ARGN} ${script}
    COMMENT "Generating ${name}.h"
    VERBATIM)
  sinter_generated(${name}.h sinter-tables)
endfunction()

function(sinter_source_digest)
  set(path ${SINTER_GENERATED_DIR}/SourceDigest.h)
  set(patterns "")
  foreach(place ${ARGN})
    if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${place})
      list(APPEND patterns ${PROJECT_SOURCE_DIR}/${place})
      continue()
    endif()
    foreach(suffix cpp h td fbs)
      list(APPEND patterns ${PROJECT_SOURCE_DIR}/${place}/*.${suffix})
    endforeach()
  endforeach()
  file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${patterns})
  set(script ${PROJECT_SOURCE_DIR}/tools/cmake/SourceDigest.cmake)
  add_custom_command(OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
      -DLLVM=${LLVM_PACKAGE_VERSION} -DOUTPUT=${path} "-DPLACES=${ARGN}"
      -P ${script}
    DEPENDS ${inputs} ${script}
    COMMENT "Generating SourceDigest.h"
    VERBATIM)
  sinter_generated(SourceDigest.h sinter-tables)
endfunction()
