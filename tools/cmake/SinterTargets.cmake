# Libraries, tools and tests of Sinter.
#
# sinter_add_library(NAME [OBJECT|STATIC|SHARED] [MLIR] SOURCES... DEPS...)
#   OBJECT (the default) is one folder of a larger library; SHARED takes its
#   DEPS' objects in (and is STATIC in preset `bundle`). MLIR: may include
#   MLIR, uses the precompiled header, has no exceptions.
# sinter_add_tool(NAME [MLIR] SOURCES... DEPS... [OUTPUT FILE])
#   A program in bin/; one that DEPS on sinter::tablegen makes the generated
#   files, so it cannot use them.
# sinter_add_test(NAME [MLIR] [THREADS] SOURCES... DEPS... [LABELS...]
#                 [ARGS...] [ENVIRONMENT...])
#   A GoogleTest program, one ctest entry; LABELS is `fast` unless given.
#   THREADS: several threads of its own; it gets the label `threads` too, which
#   ThreadSanitizer runs. Target `tests-LABEL` builds what a label needs.
# sinter_add_example(NAME SOURCES... [DEPS...])
#
# The repository's root and the generated files are on every include path, and
# fmt, flatbuffers and xxhash are there for everyone.

function(sinter_common name mlir)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}
    ${SINTER_GENERATED_ROOT})
  target_link_libraries(${name} PUBLIC sinter::base)
  add_dependencies(${name} sinter-tables)
  if(mlir)
    target_link_libraries(${name} PUBLIC sinter::mlir)
    add_dependencies(${name} mlir-tables)
    if(NOT name STREQUAL "sinter-pch")
      target_precompile_headers(${name} REUSE_FROM sinter-pch)
    endif()
  endif()
  if(SINTER_SANITIZE_FLAGS AND
      (NOT mlir OR SINTER_SANITIZE STREQUAL "thread"))
    target_compile_options(${name} PRIVATE ${SINTER_SANITIZE_FLAGS})
    target_link_options(${name} PUBLIC ${SINTER_SANITIZE_FLAGS})
  endif()
endfunction()

# The one precompiled header: everything that includes MLIR uses it.
function(sinter_add_pch header)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/pch/pch.cpp
    CONTENT "// Holds the precompiled header.\n")
  add_library(sinter-pch OBJECT ${CMAKE_BINARY_DIR}/pch/pch.cpp)
  sinter_common(sinter-pch TRUE)
  target_precompile_headers(sinter-pch PRIVATE ${header})
endfunction()
sinter_add_pch(${PROJECT_SOURCE_DIR}/compiler/pch.h)

function(sinter_add_library name)
  cmake_parse_arguments(arg "OBJECT;STATIC;SHARED;MLIR" "" "SOURCES;DEPS"
    ${ARGN})
  set(kind OBJECT)
  if(arg_SHARED AND NOT SINTER_BUNDLE)
    set(kind SHARED)
  elseif(arg_SHARED OR arg_STATIC)
    set(kind STATIC)
  endif()
  add_library(${name} ${kind} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX
    DEFINE_SYMBOL "")
  sinter_common(${name} "${arg_MLIR}")
  target_link_libraries(${name} PUBLIC ${arg_DEPS})
  # Clang's sanitizers are in the program alone.
  if(kind STREQUAL "SHARED" AND NOT SINTER_FUZZ)
    target_link_options(${name} PRIVATE LINKER:-z,defs)
  endif()
endfunction()

function(sinter_add_tool name)
  cmake_parse_arguments(arg "MLIR" "OUTPUT" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(arg_OUTPUT)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${arg_OUTPUT})
  endif()
  if("sinter::tablegen" IN_LIST arg_DEPS)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  else()
    sinter_common(${name} "${arg_MLIR}")
  endif()
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
endfunction()

function(sinter_add_test name)
  cmake_parse_arguments(arg "MLIR;THREADS" ""
    "SOURCES;DEPS;LABELS;ARGS;ENVIRONMENT" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  if(arg_THREADS)
    list(APPEND arg_LABELS threads)
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  sinter_common(${name} "${arg_MLIR}")
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  sinter_test_properties(${name} "${arg_LABELS}" "${arg_ENVIRONMENT}")
  foreach(label ${arg_LABELS})
    add_dependencies(tests-${label} ${name})
  endforeach()
endfunction()

# What every ctest entry has: a label, its environment (an own cache that is
# empty at first, the sanitizers' settings), a time limit, a cost: those of the
# label `slow` begin first. Those of the label `full` may take hours.
function(sinter_test_properties name labels environment)
  if(NOT labels)
    set(labels fast)
  endif()
  list(PREPEND environment
    SINTER_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache/${name})
  if(SINTER_SANITIZE STREQUAL "thread")
    list(PREPEND environment TSAN_OPTIONS=halt_on_error=1)
  elseif(SINTER_SANITIZE STREQUAL "address")
    # LLVM gives a compiling thread a signal stack of its own, which ASan would
    # unmap when the thread ends.
    list(PREPEND environment ASAN_OPTIONS=use_sigaltstack=0
      LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tools/cmake/leaks.supp:print_suppressions=0)
  endif()
  set(seconds 600)
  set(cost 0)
  if("full" IN_LIST labels)
    set(seconds 14400)
  elseif("slow" IN_LIST labels)
    set(cost 100)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${seconds}
    COST ${cost} ENVIRONMENT "${environment}" FIXTURES_REQUIRED empty-caches)
endfunction()

function(sinter_add_example name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples/${name})
  sinter_common(${name} FALSE)
  target_link_libraries(${name} PRIVATE sinter-frontend ${arg_DEPS})
  if(SINTER_TESTS)
    add_dependencies(tests-fast ${name})
  endif()
endfunction()

if(SINTER_TESTS)
  enable_testing()
  add_test(NAME empty-caches
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/test-cache)
  set_tests_properties(empty-caches PROPERTIES FIXTURES_SETUP empty-caches)
  # What tests open or start, beside the tests themselves.
  foreach(label fast slow threads)
    add_custom_target(tests-${label})
    add_dependencies(tests-${label} sinter-compiler)
  endforeach()
  add_dependencies(tests-fast sinter sinter-tblgen)
endif()
