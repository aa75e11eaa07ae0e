# outlast_module(): one folder of src/ as a library, with everything that keeps it honest.
#
#   outlast_module(
#     job
#     HEADERS spec.h          the contract; each must compile alone (lint preset)
#     SOURCES spec.cc
#     TESTS spec_test.cc      unit tests, beside the code
#     DEPENDS base            modules it may use; refused unless src/dependencies.txt allows them
#     LIBRARIES PkgConfig::x  third-party libraries
#     TEST_DEPENDS sim)       modules only its tests use
#
# It makes: outlast_<name>; <name>_tests; <name>_link, an empty program linked with the whole module and
# nothing but what it declares, so that a call to an undeclared module does not link.

function(_outlast_allowed name out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${OUTLAST_DEPENDENCIES})
  file(STRINGS ${OUTLAST_DEPENDENCIES} row REGEX "^${name}:")
  if(NOT row)
    message(FATAL_ERROR "Module '${name}' has no row in ${OUTLAST_DEPENDENCIES}. Add one: '${name}: base'.")
  endif()
  string(REGEX REPLACE "^[^:]*:" "" row "${row}")
  string(REGEX MATCHALL "[a-z0-9_/]+" allowed "${row}")
  set(${out} ${allowed} PARENT_SCOPE)
endfunction()

if(NOT OUTLAST_DEPENDENCIES)
  set(OUTLAST_DEPENDENCIES ${PROJECT_SOURCE_DIR}/src/dependencies.txt)
endif()

# Of arg_HEADERS, those that no source of the same name includes before everything else: for the others
# the source has shown already that they compile alone.
function(_outlast_unproved out)
  set(unproved)
  foreach(header IN LISTS arg_HEADERS)
    string(REGEX REPLACE "\\.h$" ".cc" source ${header})
    set(first)
    if(source IN_LIST arg_SOURCES)
      file(STRINGS ${source} first REGEX "^#include" LIMIT_COUNT 1)
    endif()
    get_filename_component(file ${header} NAME)
    if(NOT first MATCHES "/${file}\"$")
      list(APPEND unproved ${header})
    endif()
  endforeach()
  set(${out} ${unproved} PARENT_SCOPE)
endfunction()

function(outlast_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;TESTS;DEPENDS;LIBRARIES;TEST_DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "outlast_module(${name}): what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()
  string(REPLACE "/" "_" id ${name})
  _outlast_allowed(${name} allowed)
  set(modules)
  foreach(dep IN LISTS arg_DEPENDS)
    if(NOT dep IN_LIST allowed)
      message(FATAL_ERROR "Module '${name}' may not depend on '${dep}': see ${OUTLAST_DEPENDENCIES}.")
    endif()
    string(REPLACE "/" "_" dep_id ${dep})
    list(APPEND modules outlast_${dep_id})
  endforeach()

  set(lib outlast_${id})
  add_library(${lib} STATIC ${arg_SOURCES})
  _outlast_unproved(unproved)
  target_sources(${lib} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${unproved})
  target_link_libraries(${lib} PRIVATE outlast_flags PUBLIC ${modules} ${arg_LIBRARIES})
  if(NOT OUTLAST_TESTS OR (OUTLAST_TEST_MODULES AND NOT name IN_LIST OUTLAST_TEST_MODULES))
    return()
  endif()

  set(empty_main ${PROJECT_BINARY_DIR}/empty_main.cc)
  if(NOT EXISTS ${empty_main})
    file(WRITE ${empty_main} "int main() {}\n")
  endif()
  add_executable(${id}_link ${empty_main})
  target_link_libraries(${id}_link PRIVATE outlast_flags $<LINK_LIBRARY:WHOLE_ARCHIVE,${lib}>)
  set_target_properties(${id}_link PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/link)

  if(arg_TESTS)
    list(TRANSFORM arg_TEST_DEPENDS REPLACE "/" "_")
    list(TRANSFORM arg_TEST_DEPENDS PREPEND outlast_)
    outlast_test(${id}_tests LABEL unit SOURCES ${arg_TESTS} LIBRARIES ${lib} ${arg_TEST_DEPENDS})
  endif()
endfunction()

add_custom_target(all_tests COMMENT "Every test program, and nothing that no test needs")

# A GoogleTest program whose every TEST is a test of its own, under one label.
function(outlast_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "SOURCES;LIBRARIES;DEFINITIONS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE outlast_flags ${arg_LIBRARIES} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS} OUTLAST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_dependencies(all_tests ${name})
  # Tests are compiled several to a unit in every preset: GoogleTest's headers cost more than they do.
  set_target_properties(
    ${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests UNITY_BUILD ON)
  # Without values in the names: printed bytes of a parameter differ from run to run.
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${arg_LABEL})
endfunction()
