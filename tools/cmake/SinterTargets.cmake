# Libraries, tools and tests of Sinter.
#
# sinter_add_library(NAME [OBJECT|STATIC|SHARED] [MLIR] SOURCES... DEPS...)
#   OBJECT (the default) is one folder of a larger library; SHARED takes its
#   DEPS' objects in (and is STATIC in preset `bundle`). MLIR: may include
#   MLIR, uses its precompiled header, has no exceptions.
# sinter_ship(LIBRARY [ALSO PATTERNS...])
#   The shared library has a version and is installed. Sinter's names alone come
#   out of it, and mangled ones of these patterns.
# sinter_for_older_systems(TARGET)
#   The library or program of a package (SINTER_STATIC_LLVM) runs with glibc
#   2.34 and GCC 11's C++ library.
# sinter_add_public(NAME LIBRARY)
#   sinter::NAME, what users link: LIBRARY and the public headers.
# sinter_add_tool(NAME [MLIR] SOURCES... DEPS... [OUTPUT FILE])
#   A program in bin/; one that DEPS on sinter::tablegen makes the generated
#   files, so it cannot use them.
# sinter_add_test(NAME [MLIR] [THREADS] SOURCES... DEPS... [LABELS...]
#                 [ARGS...] [ENVIRONMENT...])
#   A GoogleTest program, one ctest entry; LABELS is `fast` unless given.
#   THREADS: several threads of its own; it gets the label `threads` too, which
#   ThreadSanitizer runs. Target `tests-LABEL` builds what a label needs.
#   NO_PCH, of tests and tools: flags of its own, which fit no precompiled header.
# sinter_add_example(NAME [RUNTIME] SOURCES... [DEPS...])
#   RUNTIME: it needs what is public of the runtime, and no more.
#
# The repository's root and the generated files are on every include path, and
# fmt, flatbuffers and xxhash are there for everyone.

function(sinter_common name mlir)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/runtime/include ${SINTER_GENERATED_ROOT})
  target_link_libraries(${name} PUBLIC sinter::base)
  add_dependencies(${name} sinter-tables)
  if(mlir)
    target_link_libraries(${name} PUBLIC sinter::mlir)
    add_dependencies(${name} mlir-tables)
  endif()
  sinter_sanitized(sanitized ${name} "${mlir}")
  if(sanitized)
    target_compile_options(${name} PRIVATE ${SINTER_SANITIZE_FLAGS})
  endif()
  if(SINTER_SANITIZE_FLAGS)
    target_link_options(${name} PUBLIC ${SINTER_SANITIZE_FLAGS})
  endif()
endfunction()

# sinter_sanitized(VARIABLE NAME MLIR): whether a sanitizer looks into this
# target's code. ThreadSanitizer has to see all of it but passes and emitters:
# a run of those has one thread, and what it shares, the target, is constant. The others
# look at what includes no MLIR, and not at tests and examples, a third of all
# to compile. SINTER_SANITIZE_TESTS and fuzzers ask for the rest, too, whose
# objects are those of preset `dev` otherwise.
function(sinter_sanitized variable name mlir)
  set(answer FALSE)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT SINTER_SANITIZE_FLAGS)
    # Nobody asked.
  elseif(SINTER_SANITIZE STREQUAL "thread")
    if(SINTER_SANITIZE_TESTS OR
        NOT (folder MATCHES "^(dialects|compiler/(fuse|lower|simplify|target))" OR
          name MATCHES "^sinter-(target-)?pch$"))
      set(answer TRUE)
    endif()
  elseif(NOT mlir)
    if(SINTER_SANITIZE_TESTS OR SINTER_FUZZ OR
        NOT (folder MATCHES "^(tests|examples)" OR
          name MATCHES "^sinter-(test|bare)-pch$"))
      set(answer TRUE)
    endif()
  endif()
  set(${variable} ${answer} PARENT_SCOPE)
endfunction()

# The precompiled headers: of everything that includes MLIR, of targets, which
# include the dialects of what they emit, too, of what includes no MLIR, and of
# tests of the latter. They hold other people's headers alone. A release is
# built without the last two: there each file has to include what it uses.
# Tests run briefly and are a third of all to compile, so what can do without an
# optimizer does; where Address or UndefinedBehaviorSanitizer looks into it that
# would be slow.
function(sinter_add_pch name mlir header)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/pch/${name}.cpp
    CONTENT "// Holds a precompiled header.\n")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/pch/${name}.cpp)
  sinter_common(${name} ${mlir})
  target_precompile_headers(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/${header}>)
endfunction()
sinter_add_pch(sinter-pch TRUE compiler/pch.h)
sinter_add_pch(sinter-target-pch TRUE compiler/target/pch.h)
if(SINTER_SANITIZE STREQUAL "thread" AND NOT SINTER_SANITIZE_TESTS)
  sinter_add_pch(sinter-seen-pch TRUE compiler/pch.h)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Dev")
  sinter_add_pch(sinter-plain-pch FALSE runtime/support/pch.h)
  if(SINTER_TESTS)
    sinter_add_pch(sinter-test-pch FALSE tests/pch.h)
    target_link_libraries(sinter-test-pch PRIVATE GTest::gtest)
    sinter_sanitized(sanitized sinter-test-pch FALSE)
    if(NOT sanitized OR SINTER_SANITIZE STREQUAL "thread")
      target_compile_options(sinter-test-pch PUBLIC -O0)
    endif()
    if(SINTER_SANITIZE_FLAGS AND NOT sanitized)
      sinter_add_pch(sinter-bare-pch FALSE runtime/support/pch.h)
    endif()
  endif()
endif()

# sinter_use_pch(NAME MLIR OTHER): the one for MLIR, or OTHER where there is one;
# what no sanitizer looks into has one without its flags.
function(sinter_use_pch name mlir other)
  sinter_sanitized(sanitized ${name} "${mlir}")
  if(other STREQUAL "sinter-plain-pch" AND NOT sanitized AND
      TARGET sinter-bare-pch)
    set(other sinter-bare-pch)
  endif()
  if(mlir AND name MATCHES "^sinter-target")
    target_precompile_headers(${name} REUSE_FROM sinter-target-pch)
  elseif(mlir AND sanitized AND TARGET sinter-seen-pch)
    target_precompile_headers(${name} REUSE_FROM sinter-seen-pch)
  elseif(mlir)
    target_precompile_headers(${name} REUSE_FROM sinter-pch)
  elseif(TARGET ${other})
    target_precompile_headers(${name} REUSE_FROM ${other})
    target_compile_options(${name} PRIVATE
      $<TARGET_PROPERTY:${other},INTERFACE_COMPILE_OPTIONS>)
  endif()
endfunction()

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
  sinter_use_pch(${name} "${arg_MLIR}" sinter-plain-pch)
  target_link_libraries(${name} PUBLIC ${arg_DEPS})
  # Clang's sanitizers are in the program alone.
  if(kind STREQUAL "SHARED" AND NOT SINTER_FUZZ)
    target_link_options(${name} PRIVATE LINKER:-z,defs)
  endif()
endfunction()

# Interfaces may change with each minor version until 1.0.
set(SINTER_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

function(sinter_for_older_systems name)
  if(TARGET sinter-older-systems)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:sinter-older-systems>)
    # Conversions of f16 from the archive: they are newer than GCC 11's library.
    target_link_libraries(${name} PRIVATE gcc)
  endif()
endfunction()

function(sinter_ship name)
  if(SINTER_BUNDLE)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "ALSO" ${ARGN})
  sinter_for_older_systems(${name})
  # Those that it needs lie beside it, here and where they are installed.
  set_target_properties(${name} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${SINTER_SOVERSION}
    INSTALL_RPATH $ORIGIN BUILD_WITH_INSTALL_RPATH ON)
  set_property(GLOBAL APPEND PROPERTY SINTER_SHIPPED ${name})
  # A sanitizer looks for what several libraries define.
  if(NOT SINTER_SANITIZE)
    set(names ${PROJECT_BINARY_DIR}/${name}.map)
    list(JOIN arg_ALSO "; " also)
    string(REGEX REPLACE "(.)$" "\\1;" also "${also}")
    configure_file(${PROJECT_SOURCE_DIR}/tools/cmake/exports.map.in ${names}
      @ONLY)
    target_link_options(${name} PRIVATE LINKER:--version-script=${names})
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${names})
  endif()
endfunction()

# None of the folders and flags that Sinter's own files are compiled with.
function(sinter_add_public name library)
  add_library(sinter-public-${name} INTERFACE)
  add_library(sinter::${name} ALIAS sinter-public-${name})
  target_compile_features(sinter-public-${name} INTERFACE cxx_std_20)
  target_include_directories(sinter-public-${name} INTERFACE
    ${PROJECT_SOURCE_DIR}/frontend/include ${PROJECT_SOURCE_DIR}/runtime/include
    ${SINTER_GENERATED_ROOT})
  target_link_libraries(sinter-public-${name} INTERFACE
    $<LINK_ONLY:${library}>)
  add_dependencies(sinter-public-${name} sinter-tables)
endfunction()

# Files beside MLIR, which knows no exceptions, that catch or are unwound: what
# others wait for is given up there when memory runs out.
function(sinter_with_exceptions)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS -fexceptions SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# Files that programs without the C++ library may link.
function(sinter_without_library)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS "-fno-exceptions;-fno-rtti;-fno-threadsafe-statics"
    SKIP_PRECOMPILE_HEADERS ON)
endfunction()

function(sinter_add_tool name)
  cmake_parse_arguments(arg "MLIR;NO_PCH" "OUTPUT" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(arg_OUTPUT)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${arg_OUTPUT})
  endif()
  if("sinter::tablegen" IN_LIST arg_DEPS)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  else()
    sinter_common(${name} "${arg_MLIR}")
    if(NOT arg_NO_PCH)
      sinter_use_pch(${name} "${arg_MLIR}" sinter-plain-pch)
    endif()
  endif()
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
endfunction()

function(sinter_add_test name)
  cmake_parse_arguments(arg "MLIR;THREADS;NO_PCH" ""
    "SOURCES;DEPS;LABELS;ARGS;ENVIRONMENT" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  if(arg_THREADS)
    list(APPEND arg_LABELS threads)
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  sinter_common(${name} "${arg_MLIR}")
  if(NOT arg_NO_PCH)
    sinter_use_pch(${name} "${arg_MLIR}" sinter-test-pch)
  endif()
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
    SINTER_CACHE_DIR=${PROJECT_BINARY_DIR}/test-cache/${name})
  if(SINTER_SANITIZE STREQUAL "thread")
    list(PREPEND environment TSAN_OPTIONS=halt_on_error=1)
  elseif(SINTER_SANITIZE)
    # LLVM gives a compiling thread a signal stack of its own, which ASan would
    # unmap when the thread ends.
    list(PREPEND environment ASAN_OPTIONS=use_sigaltstack=0
      UBSAN_OPTIONS=print_stacktrace=1
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
  cmake_parse_arguments(arg "RUNTIME" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples/${name})
  if(arg_RUNTIME)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_options(${name} PRIVATE ${SINTER_SANITIZE_FLAGS})
    target_link_libraries(${name} PRIVATE sinter::runtime ${arg_DEPS})
  else()
    sinter_common(${name} FALSE)
    target_link_libraries(${name} PRIVATE sinter-frontend ${arg_DEPS})
  endif()
  if(SINTER_TESTS)
    add_dependencies(tests-fast ${name})
  endif()
endfunction()

if(SINTER_TESTS)
  enable_testing()
  add_test(NAME empty-caches
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${PROJECT_BINARY_DIR}/test-cache)
  set_tests_properties(empty-caches PROPERTIES FIXTURES_SETUP empty-caches)
  # What tests open or start, beside the tests themselves.
  foreach(label fast slow threads)
    add_custom_target(tests-${label})
    add_dependencies(tests-${label} sinter-compiler)
  endforeach()
  add_dependencies(tests-fast sinter sinter-tblgen)
endif()
