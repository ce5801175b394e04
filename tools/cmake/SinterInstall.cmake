# What `cmake --install` puts where: the libraries, the public headers, the tool,
# and what find_package and pkg-config look for. Everything may be moved
# afterwards. The components are those that packages are made of.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS sinter COMPONENT sinter-tools)
install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/sinter-opt
  DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT sinter-tools)
# The manual and completion, as the tool prints them.
set(help ${PROJECT_BINARY_DIR}/share)
add_custom_command(OUTPUT ${help}/man/man1/sinter.1
  COMMAND ${CMAKE_COMMAND} -DSINTER=$<TARGET_FILE:sinter> -DFOLDER=${help}
    -P ${PROJECT_SOURCE_DIR}/tools/cmake/SinterHelp.cmake
  DEPENDS sinter ${PROJECT_SOURCE_DIR}/tools/cmake/SinterHelp.cmake
  VERBATIM)
add_custom_target(sinter-help ALL DEPENDS ${help}/man/man1/sinter.1)
install(DIRECTORY ${help}/ DESTINATION ${CMAKE_INSTALL_DATADIR}
  COMPONENT sinter-tools)
# There the tool is all.
if(SINTER_BUNDLE)
  return()
endif()

file(RELATIVE_PATH libraries_of_tool /${CMAKE_INSTALL_BINDIR}
  /${CMAKE_INSTALL_LIBDIR})
set_target_properties(sinter PROPERTIES
  INSTALL_RPATH $ORIGIN/${libraries_of_tool})
if(libraries_of_tool STREQUAL "../lib") # as in the build folder
  set_target_properties(sinter PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
endif()
get_property(shipped GLOBAL PROPERTY SINTER_SHIPPED)
install(TARGETS ${shipped} LIBRARY
  COMPONENT libsinter NAMELINK_COMPONENT libsinter-dev)
install(TARGETS sinter-runtime-static ARCHIVE COMPONENT libsinter-dev)

foreach(folder runtime frontend)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libsinter-dev
    FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES ${SINTER_GENERATED_ROOT}/sinter/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sinter COMPONENT libsinter-dev)
install(FILES ${SINTER_GENERATED_DIR}/Choices.h.inc
  ${SINTER_GENERATED_DIR}/TensorMethods.h.inc
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sinter/generated
  COMPONENT libsinter-dev)
install(DIRECTORY ${SINTER_GENERATED_DIR}/functions
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sinter/generated
  COMPONENT libsinter-dev
  FILES_MATCHING PATTERN "*.h")

# What users of the archive have to have.
if(SINTER_STATIC_LLVM)
  set(archive_needs zlib)
  set(archive_links "")
else()
  set(archive_needs "fmt and zlib")
  set(archive_links -lfmt)
endif()

# ---- find_package -----------------------------------------------------------
set(templates ${PROJECT_SOURCE_DIR}/tools/cmake/package)
set(folder ${PROJECT_BINARY_DIR}/package)
set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/Sinter)
configure_package_config_file(${templates}/SinterConfig.cmake.in
  ${folder}/SinterConfig.cmake
  INSTALL_DESTINATION ${destination}
  INSTALL_PREFIX /usr # where it may be found through the link /lib
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${folder}/SinterConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${folder}/SinterConfig.cmake ${folder}/SinterConfigVersion.cmake
  ${templates}/SinterEmbed.cmake
  DESTINATION ${destination} COMPONENT libsinter-dev)

# ---- pkg-config -------------------------------------------------------------
file(RELATIVE_PATH prefix_of_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_of_pc "${prefix_of_pc}")
foreach(name sinter sinter-data sinter-runtime)
  configure_file(${templates}/${name}.pc.in ${folder}/${name}.pc @ONLY)
  install(FILES ${folder}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libsinter-dev)
endforeach()
