# find_package() with a message that names the Debian package to install, taken from packages.txt.

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/packages.txt)

function(_outlast_missing_package name)
  file(STRINGS ${PROJECT_SOURCE_DIR}/packages.txt rows REGEX "[ \t]${name}$")
  string(REGEX REPLACE "^[a-z]+[ \t]+([^ \t]+).*" "\\1" package "${rows}")
  message(FATAL_ERROR "${name} was not found. Install it with: apt-get install ${package}\n"
                      "or let './dev setup' install everything that is missing.")
endfunction()

macro(outlast_find_package name)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    _outlast_missing_package(${name})
  endif()
endmacro()

# The same for libraries that come with a pkg-config file only. Target: PkgConfig::<name>.
macro(outlast_find_pkgconfig name)
  find_package(PkgConfig QUIET)
  if(NOT PKG_CONFIG_FOUND)
    message(FATAL_ERROR "pkg-config was not found. Install it with: apt-get install pkg-config")
  endif()
  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${name})
  if(NOT ${name}_FOUND)
    _outlast_missing_package(${name})
  endif()
endmacro()

# The same for libraries that come with neither: a header and a library. Target: outlast_<name>.
macro(outlast_find_library name header)
  find_path(${name}_INCLUDE_DIR ${header})
  find_library(${name}_LIBRARY ${name})
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
  if(NOT ${name}_INCLUDE_DIR OR NOT ${name}_LIBRARY)
    _outlast_missing_package(${name})
  endif()
  add_library(outlast_${name} INTERFACE)
  target_include_directories(outlast_${name} SYSTEM INTERFACE ${${name}_INCLUDE_DIR})
  target_link_libraries(outlast_${name} INTERFACE ${${name}_LIBRARY})
endmacro()
