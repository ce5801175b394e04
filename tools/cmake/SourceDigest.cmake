# Writes a header with the digest of the compiler's sources and LLVM's version,
# which is part of every cache key.
#
# usage: cmake -DROOT=... -DLLVM=... -DOUTPUT=... -DPLACES=... -P this

cmake_minimum_required(VERSION 3.25)

set(text "llvm ${LLVM}\n")
foreach(place ${PLACES})
  set(paths ${place})
  if(IS_DIRECTORY ${ROOT}/${place})
    file(GLOB_RECURSE paths RELATIVE ${ROOT} ${ROOT}/${place}/*.cpp
      ${ROOT}/${place}/*.h ${ROOT}/${place}/*.td ${ROOT}/${place}/*.fbs)
    list(SORT paths)
  endif()
  foreach(path ${paths})
    file(SHA256 ${ROOT}/${path} sum)
    string(APPEND text "${path} ${sum}\n")
  endforeach()
endforeach()
string(MD5 digest "${text}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"/// Digest of the compiler's own sources and of LLVM's version.
#pragma once

namespace sinter {

/// 32 hexadecimal digits; part of every cache key.
inline constexpr char sourceDigest[] = \"${digest}\";

} // namespace sinter
")
