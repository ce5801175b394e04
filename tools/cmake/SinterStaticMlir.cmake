# Static MLIR, LLVM and lld behind sinter-mlir, for preset `bundle`.
#
# Debian's MLIR targets name the shared LLVM in their link interface, which
# would bring a second LLVM into the file; it is taken out here and the static
# components are named instead. Archives give only the objects that something
# refers to, so the lists may be generous.

llvm_map_components_to_libnames(static_llvm core support passes target mc
  x86codegen x86asmparser x86disassembler x86desc x86info bitwriter bitreader
  asmparser ipo linker lto codegen object option frontendopenmp)

file(STRINGS ${MLIR_CMAKE_DIR}/MLIRTargets.cmake mlir_lines
  REGEX "^add_library\\(MLIR")
file(STRINGS ${LLD_CMAKE_DIR}/LLDTargets.cmake lld_lines
  REGEX "^add_library\\(lld")
foreach(line ${mlir_lines} ${lld_lines})
  string(REGEX REPLACE "add_library\\(([A-Za-z0-9_]+) .*" "\\1" lib "${line}")
  get_target_property(links ${lib} INTERFACE_LINK_LIBRARIES)
  if(links)
    list(REMOVE_ITEM links LLVM "\$<LINK_ONLY:LLVM>")
    set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES
      "${links}")
  endif()
endforeach()

get_property(dialect_libs GLOBAL PROPERTY MLIR_DIALECT_LIBS)
get_property(conversion_libs GLOBAL PROPERTY MLIR_CONVERSION_LIBS)
list(FILTER dialect_libs EXCLUDE REGEX "Test")
target_link_libraries(sinter-mlir INTERFACE ${dialect_libs} ${conversion_libs}
  MLIROptLib MLIRTargetLLVMIRExport MLIRLLVMToLLVMIRTranslation
  MLIRBuiltinToLLVMIRTranslation lldELF lldCommon ${static_llvm})
