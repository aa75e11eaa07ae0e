# What every target of ours is compiled with, as one interface target: no global flags.

add_library(outlast_flags INTERFACE)
target_compile_options(
  outlast_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                          $<$<BOOL:${OUTLAST_WERROR}>:-Werror>
                          $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
# What it inlines, or the sanitizers add, makes g++ 12 see paths that are none; the plain build has the warning.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (OUTLAST_SANITIZE OR NOT CMAKE_BUILD_TYPE STREQUAL "Debug"))
  target_compile_options(outlast_flags INTERFACE -Wno-maybe-uninitialized)
endif()
if(OUTLAST_SANITIZE)
  target_compile_options(outlast_flags INTERFACE -fsanitize=${OUTLAST_SANITIZE} -O1 -g1 -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  target_link_options(outlast_flags INTERFACE -fsanitize=${OUTLAST_SANITIZE})
endif()

find_program(OUTLAST_CCACHE ccache)
if(OUTLAST_CCACHE)
  # Paths below the source folder do not count, so that a second clone finds what the first one compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${OUTLAST_CCACHE})
endif()
