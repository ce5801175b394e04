# Static MLIR, LLVM and lld behind sinter-mlir, for presets `bundle` and
# `portable`.
#
# Debian's MLIR targets name the shared LLVM in their link interface, which
# would bring a second LLVM into the file; it is taken out here and the static
# components are named instead. Archives give only the objects that something
# refers to, so the lists may be generous.

llvm_map_components_to_libnames(static_llvm core support passes target mc
  x86codegen x86asmparser x86disassembler x86desc x86info
  aarch64codegen aarch64asmparser aarch64desc aarch64info nvptxcodegen
  nvptxdesc nvptxinfo bitwriter bitreader
  asmparser ipo linker lto dtlto codegen object option frontendopenmp)

file(STRINGS ${MLIR_CMAKE_DIR}/MLIRTargets.cmake mlir_lines
  REGEX "^add_library\\(MLIR")
file(STRINGS ${LLD_CMAKE_DIR}/LLDTargets.cmake lld_lines
  REGEX "^add_library\\(lld")
# The solver z3 serves clang alone.
foreach(line ${mlir_lines} ${lld_lines} "add_library(LLVMSupport STATIC)")
  string(REGEX REPLACE "add_library\\(([A-Za-z0-9_]+) .*" "\\1" lib "${line}")
  get_target_property(links ${lib} INTERFACE_LINK_LIBRARIES)
  if(links)
    list(REMOVE_ITEM links LLVM "\$<LINK_ONLY:LLVM>")
    list(FILTER links EXCLUDE REGEX "/libz3[.]")
    list(TRANSFORM links REPLACE "^zstd::libzstd_shared$" zstd::libzstd_static)
    set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES
      "${links}")
  endif()
endforeach()

# lld starts every target of Debian's LLVM, and LTO asks for Polly.
set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES
  LLVMSupport)
set(absent_targets ${LLVM_TARGETS_TO_BUILD})
list(REMOVE_ITEM absent_targets X86 AArch64 NVPTX)
list(TRANSFORM absent_targets REPLACE "(.+)" "SINTER_ABSENT(\\1)")
list(JOIN absent_targets "\n" absent_targets)
configure_file(${CMAKE_CURRENT_LIST_DIR}/AbsentTargets.cpp.in
  ${PROJECT_BINARY_DIR}/generated/AbsentTargets.cpp @ONLY)
add_library(sinter-absent-targets OBJECT
  ${PROJECT_BINARY_DIR}/generated/AbsentTargets.cpp)
target_include_directories(sinter-absent-targets SYSTEM PRIVATE
  ${LLVM_INCLUDE_DIRS})

get_property(dialect_libs GLOBAL PROPERTY MLIR_DIALECT_LIBS)
get_property(conversion_libs GLOBAL PROPERTY MLIR_CONVERSION_LIBS)
list(FILTER dialect_libs EXCLUDE REGEX "Test")
target_link_libraries(sinter-mlir INTERFACE ${dialect_libs} ${conversion_libs}
  MLIROptLib MLIRSPIRVDeserialization MLIRTargetLLVMIRExport
  MLIRLLVMToLLVMIRTranslation
  MLIRBuiltinToLLVMIRTranslation lldELF lldCommon ${static_llvm}
  sinter-absent-targets $<TARGET_OBJECTS:sinter-absent-targets>)
