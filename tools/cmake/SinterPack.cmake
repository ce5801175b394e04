# Packages, by `cpack` in a build of preset `portable`: libsinter, libsinter-dev
# and sinter-tools for Debian 12 and later, and an archive of everything that may
# be unpacked anywhere. tests/e2e/install/package.py holds them to what is
# written here.

set(CPACK_GENERATOR DEB TZST)
set(CPACK_PACKAGE_NAME sinter)
set(CPACK_PACKAGE_VENDOR Sinter)
set(CPACK_PACKAGE_CONTACT "The Sinter authors <sinter@sinter.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_FILE_NAME
  sinter-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_COMPONENTS_ALL libsinter libsinter-dev sinter-tools)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

# ---- for Debian -------------------------------------------------------------
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# sinter_deb(COMPONENT SECTION DEPENDS SUMMARY)
macro(sinter_deb component section depends summary)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${component})
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${summary}")
endmacro()
set(system "libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 11)")
set(same "libsinter (= ${PROJECT_VERSION})")
sinter_deb(libsinter libs "${system}"
  "${PROJECT_DESCRIPTION}: the libraries, with MLIR and LLVM inside")
sinter_deb(libsinter-dev libdevel "${same}, zlib1g-dev"
  "${PROJECT_DESCRIPTION}: what programs are built with")
sinter_deb(sinter-tools devel "${system}, ${same}"
  "${PROJECT_DESCRIPTION}: the command line tool")
# What libsinter-data needs: programs without it do without these.
set(CPACK_DEBIAN_LIBSINTER_PACKAGE_RECOMMENDS
  "libonig5, libpng16-16 | libpng16-16t64, libturbojpeg0")
file(WRITE ${PROJECT_BINARY_DIR}/package/triggers
  "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBSINTER_PACKAGE_CONTROL_EXTRA
  ${PROJECT_BINARY_DIR}/package/triggers)

# ---- whose code is inside ---------------------------------------------------
foreach(component ${CPACK_COMPONENTS_ALL})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${component}
    COMPONENT ${component})
endforeach()
foreach(package liblld-22-dev libflatbuffers-dev libfmt-dev libmlir-22-dev
    libsodium-dev libsqlite3-dev libutf8proc-dev libxxhash-dev libzstd-dev
    nlohmann-json3-dev libcli11-dev spirv-tools zlib1g-dev)
  install(FILES /usr/share/doc/${package}/copyright
    RENAME copyright.${package} COMPONENT libsinter
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libsinter)
endforeach()

include(CPack)
