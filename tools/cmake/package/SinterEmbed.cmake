# sinter_embed(TARGET MODEL [NAME NAME] [SIZE AXIS=N...] [FLAGS FLAG...])
#
# Makes MODEL (.onnx, .mlir or .sinter) a part of the program TARGET, under NAME or
# its file's: TARGET includes "NAME.h" and calls what sinter/embedded.h has. SIZE
# gives each open axis its size; FLAGS are those of `sinter compile`, as
# --target=cpu:x86-64-v3 --numerics=exact.
function(sinter_embed target model)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "NAME" "SIZE;FLAGS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "sinter_embed: there is no ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_property(tool GLOBAL PROPERTY SINTER_EMBEDDING_TOOL)
  cmake_path(ABSOLUTE_PATH model)
  if(NOT arg_NAME)
    cmake_path(GET model STEM arg_NAME)
    string(MAKE_C_IDENTIFIER ${arg_NAME} arg_NAME)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.embedded)
  set(made ${folder}/${arg_NAME}.o ${folder}/${arg_NAME}.h)
  list(TRANSFORM arg_SIZE PREPEND --size=)
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${tool} compile ${model} -o ${folder}/${arg_NAME}.o
      --emit object --name ${arg_NAME} ${arg_SIZE} ${arg_FLAGS}
    DEPENDS ${model} ${tool}
    COMMENT "Embedding ${arg_NAME} in ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE ${made})
  set_source_files_properties(${folder}/${arg_NAME}.o PROPERTIES
    EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE sinter::embedded)
endfunction()
