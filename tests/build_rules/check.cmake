# cmake -D CASE=… -D REPO=… -D WORK=… -D CXX=… -D GENERATOR=… -P check.cmake
#
# Two modules: `low`, and `high` that may use it. The case `sound` builds them as they are; every other
# case changes one file, so that what fails can only fail for that reason.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(fixture LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
set(OUTLAST_TESTS ON)
list(APPEND CMAKE_MODULE_PATH "${REPO}/cmake")
include(OutlastPackages)
include(OutlastFlags)
include(OutlastModule)
include(extra.cmake OPTIONAL)
add_subdirectory(src/low)
add_subdirectory(src/high)
")
file(WRITE ${WORK}/packages.txt "build  libnosuch-dev  NoSuchPackage\nbuild  libneither-dev  neither\n")
file(WRITE ${WORK}/src/dependencies.txt "low:\nhigh: low\n")
file(WRITE ${WORK}/src/low/CMakeLists.txt "outlast_module(low HEADERS low.h SOURCES low.cc)\n")
file(WRITE ${WORK}/src/low/low.h "#pragma once\n#include <string>\nstd::string low();\n")
file(WRITE ${WORK}/src/low/low.cc "#include <string>\n#include \"low/low.h\"\nstd::string low() { return \"low\"; }\n")
file(WRITE ${WORK}/src/high/CMakeLists.txt "outlast_module(high HEADERS high.h SOURCES high.cc DEPENDS low)\n")
file(WRITE ${WORK}/src/high/high.h "#pragma once\nint high();\n")
file(WRITE ${WORK}/src/high/high.cc
     "#include \"high/high.h\"\n#include \"low/low.h\"\nint high() { return low().empty() ? 0 : 1; }\n")

# Runs a command; wants it to pass (PASS) or to fail with a text that matches `words`. CMake breaks the
# lines of its messages, so white space counts as one space.
function(want outcome words)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
  string(REGEX REPLACE "[ \n]+" " " text "${out} ${err}")
  if(outcome STREQUAL "PASS" AND NOT result EQUAL 0)
    message(FATAL_ERROR "${CASE}: should pass: ${ARGN}\n${out}\n${err}")
  elseif(outcome STREQUAL "FAIL" AND result EQUAL 0)
    message(FATAL_ERROR "${CASE}: should fail: ${ARGN}\n${out}\n${err}")
  elseif(outcome STREQUAL "FAIL" AND NOT text MATCHES "${words}")
    message(FATAL_ERROR "${CASE}: fails, but without '${words}': ${ARGN}\n${out}\n${err}")
  endif()
endfunction()

# The fixture is built plainly, whatever the preset around it: no flags of ours reach it.
set(ENV{CXXFLAGS} "")
set(configure ${CMAKE_COMMAND} -S ${WORK} -B ${WORK}/build -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX}
              -D CMAKE_VERIFY_INTERFACE_HEADER_SETS=ON)
set(build ${CMAKE_COMMAND} --build ${WORK}/build --target)

if(CASE STREQUAL "sound")
  want(PASS "" ${configure})
  want(PASS "" ${build} all)
  want(PASS "" ${build} all_verify_interface_header_sets)

elseif(CASE STREQUAL "header")
  # Compiles where it is used, because low.cc happens to include <string> first; not alone.
  file(WRITE ${WORK}/src/low/low.h "#pragma once\nstd::string low();\n")
  file(WRITE ${WORK}/src/high/high.cc "#include \"high/high.h\"\nint high() { return 0; }\n")
  want(PASS "" ${configure})
  want(PASS "" ${build} all)
  want(FAIL "low/low\\.h:2.*std" ${build} all_verify_interface_header_sets)

elseif(CASE STREQUAL "upward_call")
  # Declares by hand what it does not include: only the link can tell.
  file(WRITE ${WORK}/src/low/low.cc
       "#include \"low/low.h\"\nint high();\nstd::string low() { return std::string(high(), ' '); }\n")
  want(PASS "" ${configure})
  want(PASS "" ${build} outlast_low)
  want(PASS "" ${build} outlast_high)
  want(FAIL "undefined (symbol|reference).*high\\(\\)" ${build} low_link)

elseif(CASE STREQUAL "forbidden_dependency")
  file(WRITE ${WORK}/src/low/CMakeLists.txt "outlast_module(low HEADERS low.h SOURCES low.cc DEPENDS high)\n")
  want(FAIL "Module 'low' may not depend on 'high': see .*dependencies\\.txt" ${configure})

elseif(CASE STREQUAL "no_row")
  file(WRITE ${WORK}/src/dependencies.txt "low:\n")
  want(FAIL "Module 'high' has no row in .*dependencies\\.txt\\. Add one" ${configure})

elseif(CASE STREQUAL "missing_package")
  file(WRITE ${WORK}/extra.cmake "outlast_find_package(NoSuchPackage)\n")
  want(FAIL "NoSuchPackage was not found\\. Install it with: apt-get install libnosuch-dev" ${configure})
  file(WRITE ${WORK}/extra.cmake "outlast_find_pkgconfig(neither)\n")
  want(FAIL "neither was not found\\. Install it with: apt-get install libneither-dev" ${configure})

elseif(CASE STREQUAL "packages_listed")
  # The sentence above needs a row in packages.txt for each package that the project looks for.
  file(STRINGS ${REPO}/CMakeLists.txt calls REGEX "outlast_find_(package|pkgconfig)\\(")
  if(NOT calls)
    message(FATAL_ERROR "${REPO}/CMakeLists.txt looks for no package: this test looks in the wrong place.")
  endif()
  foreach(call IN LISTS calls)
    string(REGEX REPLACE ".*\\(([^ )]+).*" "\\1" name "${call}")
    file(STRINGS ${REPO}/packages.txt rows REGEX "[ \t]${name}$")
    if(NOT rows)
      message(FATAL_ERROR "packages.txt does not say which Debian package has ${name}: add a row.")
    endif()
  endforeach()

else()
  message(FATAL_ERROR "check.cmake: no case '${CASE}'.")
endif()
