# How files are compiled and linked: ccache, mold, warnings, sanitizers.

# Paths in messages and recorded source lines are relative to the repository,
# whether the compiler was handed an absolute path or (by ccache) one relative
# to where it runs.
file(RELATIVE_PATH sinter_up ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
add_compile_options(
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
  -fmacro-prefix-map=${sinter_up}=)

if(SINTER_CCACHE)
  find_program(SINTER_CCACHE_PROGRAM ccache)
  find_program(SINTER_ENV_PROGRAM env)
endif()
if(SINTER_CCACHE AND SINTER_CCACHE_PROGRAM AND SINTER_ENV_PROGRAM)
  # The sloppiness and -fpch-preprocess let ccache work beside a precompiled
  # header; the base directory and the unhashed working directory let several
  # build folders share their hits.
  string(CONCAT sloppiness "pch_defines,time_macros,include_file_mtime,"
    "include_file_ctime")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SINTER_ENV_PROGRAM}
    CCACHE_SLOPPINESS=${sloppiness} CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=20G ${SINTER_CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

# GCC looks for memory to use again at every doubling beyond 128 MB, which large
# headers are by themselves: up to a fifth of a large file's seconds. This is in
# KB.
add_compile_options(
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>)

# Not POSITION_INDEPENDENT_CODE: its -fPIE in programs would not fit the
# precompiled header.
add_compile_options(-fPIC)

find_program(SINTER_MOLD_PROGRAM mold)
if(SINTER_MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

set(CMAKE_CXX_FLAGS_DEV "-O1 -g1")
set(CMAKE_C_FLAGS_DEV "-O1 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Dev)
elseif(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_compile_options(-Wall -Wextra)
if(SINTER_WERROR)
  add_compile_options(-Werror)
endif()

# ThreadSanitizer looks at all of Sinter, AddressSanitizer and
# UndefinedBehaviorSanitizer at what includes no MLIR; MLIR and LLVM themselves
# are not instrumented. Nothing is suppressed, and what is found ends the test.
set(SINTER_SANITIZE_FLAGS "")
if(SINTER_SANITIZE)
  set(SINTER_SANITIZE_FLAGS -fsanitize=${SINTER_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
endif()
if(SINTER_FUZZ)
  list(APPEND SINTER_SANITIZE_FLAGS -fsanitize=fuzzer-no-link)
endif()

# Files are compiled as elsewhere; only the link differs. Nobody else is to find
# LLVM's symbols: a Vulkan driver may have an LLVM of its own.
if(SINTER_STATIC_LLVM)
  add_link_options(LINKER:--gc-sections LINKER:--exclude-libs,ALL)
endif()
if(SINTER_BUNDLE)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# A link takes memory, not cores.
set_property(GLOBAL APPEND PROPERTY JOB_POOLS sinter_link=1)
set(CMAKE_JOB_POOL_LINK sinter_link)
