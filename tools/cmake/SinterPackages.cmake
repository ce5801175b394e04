# Outside packages, each behind one target that the rest of the build names:
#   sinter::base     fmt, flatbuffers, xxhash: what the runtime may include
#   sinter::json     nlohmann's JSON, without code of its own
#   sinter::cli      CLI11, without code of its own
#   sinter::formats  images, SQLite, Unicode: what libsinter-data alone needs
#   sinter::mlir     MLIR, LLVM and lld
#   sinter::tablegen MLIR's and LLVM's TableGen libraries

# ---- sinter::base -----------------------------------------------------------
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(FlatBuffers REQUIRED CONFIG NAMES FlatBuffers Flatbuffers)
find_program(SINTER_FLATC flatc REQUIRED)
find_program(SINTER_SPIRV_AS spirv-as REQUIRED)
set(ZLIB_USE_STATIC_LIBS ${SINTER_STATIC_LLVM})
find_package(ZLIB REQUIRED) # of runtime/params, and of LLVM
find_path(SINTER_XXHASH_DIR xxhash.h REQUIRED)

add_library(sinter-base INTERFACE)
add_library(sinter::base ALIAS sinter-base)
target_compile_definitions(sinter-base INTERFACE XXH_INLINE_ALL)
target_include_directories(sinter-base SYSTEM INTERFACE ${SINTER_XXHASH_DIR})
target_link_libraries(sinter-base INTERFACE Threads::Threads ${CMAKE_DL_LIBS}
  fmt::fmt)
if(SINTER_STATIC_LLVM)
  # Compiled like the shared one's users, linked to our own copy.
  add_library(sinter-fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/Fmt.cpp)
  set_target_properties(fmt::fmt PROPERTIES
    IMPORTED_LOCATION_NONE ${PROJECT_BINARY_DIR}/lib/libsinter-fmt.a)
  add_dependencies(fmt::fmt sinter-fmt)
  if(NOT SINTER_BUNDLE)
    add_library(sinter-older-systems OBJECT
      ${CMAKE_CURRENT_LIST_DIR}/OlderSystems.cpp)
  endif()
endif()

# ---- sinter::json, sinter::cli, sinter::formats -----------------------------
function(sinter_add_headers name header)
  string(MAKE_C_IDENTIFIER SINTER_${header}_DIR folder)
  find_path(${folder} ${header} REQUIRED)
  add_library(sinter-headers-${name} INTERFACE)
  add_library(sinter::${name} ALIAS sinter-headers-${name})
  target_include_directories(sinter-headers-${name} SYSTEM INTERFACE
    ${${folder}})
endfunction()
sinter_add_headers(json nlohmann/json.hpp)
sinter_add_headers(cli CLI/CLI.hpp)

# sinter_find_format(HEADER NAMES...): the first of these libraries.
add_library(sinter-formats INTERFACE)
add_library(sinter::formats ALIAS sinter-formats)
function(sinter_find_format header)
  string(MAKE_C_IDENTIFIER SINTER_${header} found)
  find_path(${found}_DIR ${header} REQUIRED)
  find_library(${found} NAMES ${ARGN} REQUIRED)
  target_include_directories(sinter-formats SYSTEM INTERFACE ${${found}_DIR})
  target_link_libraries(sinter-formats INTERFACE ${${found}})
endfunction()
sinter_find_format(png.h png16)
sinter_find_format(turbojpeg.h turbojpeg)
sinter_find_format(oniguruma.h onig)
# Of these two a package has its own: other systems' have other numbers.
if(SINTER_STATIC_LLVM)
  sinter_find_format(sqlite3.h libsqlite3.a)
  sinter_find_format(utf8proc.h libutf8proc.a)
else()
  sinter_find_format(sqlite3.h sqlite3)
  sinter_find_format(utf8proc.h utf8proc)
endif()

# ---- sinter::mlir -----------------------------------------------------------
# MLIR's exported targets name this one, and zlib.
find_package(zstd QUIET)
find_package(MLIR 22.1 REQUIRED CONFIG
  PATHS ${SINTER_LLVM_DIR}/lib/cmake/mlir NO_DEFAULT_PATH)
find_package(LLD REQUIRED CONFIG
  PATHS ${SINTER_LLVM_DIR}/lib/cmake/lld NO_DEFAULT_PATH)

add_library(sinter-mlir INTERFACE)
add_library(sinter::mlir ALIAS sinter-mlir)
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(sinter-mlir INTERFACE ${llvm_definitions})
target_include_directories(sinter-mlir SYSTEM INTERFACE
  ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS} ${LLD_INCLUDE_DIRS})
target_compile_options(sinter-mlir INTERFACE -fno-exceptions
  -Wno-unused-parameter) # of code that mlir-tblgen makes
if(SINTER_STATIC_LLVM)
  include(SinterStaticMlir)
else()
  target_link_libraries(sinter-mlir INTERFACE lldELF lldCommon MLIR LLVM)
endif()

# ---- sinter::tablegen -------------------------------------------------------
# By file: the imported targets would bring the static LLVM beside the shared.
add_library(sinter-tablegen INTERFACE)
add_library(sinter::tablegen ALIAS sinter-tablegen)
target_include_directories(sinter-tablegen SYSTEM INTERFACE
  ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(sinter-tablegen INTERFACE ${llvm_definitions})
target_compile_options(sinter-tablegen INTERFACE -fno-exceptions)
target_link_libraries(sinter-tablegen INTERFACE
  ${SINTER_LLVM_DIR}/lib/libMLIRTableGen.a
  ${SINTER_LLVM_DIR}/lib/libLLVMTableGen.a
  ${SINTER_LLVM_DIR}/lib/libLLVM.so)

# ---- tests ------------------------------------------------------------------
if(SINTER_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark QUIET)
  find_package(rapidcheck QUIET)
endif()
