# Finds Arrow C++ inside the pyarrow wheel: headers and shared libraries, no CMake package of its own.
# In:  ARROW_WHEEL_DIR, the pyarrow package folder (./dev setup passes it); else the Python on PATH is asked.
# Out: ArrowWheel::{arrow,compute,acero,dataset,parquet,s3}, ArrowWheel_LIBRARY_DIR.
if(NOT ARROW_WHEEL_DIR)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -c
            "import importlib.util, os; print(os.path.dirname(importlib.util.find_spec('pyarrow').origin))"
    OUTPUT_VARIABLE ARROW_WHEEL_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(ArrowWheel_LIBRARY_DIR "${ARROW_WHEEL_DIR}")
set(ArrowWheel_INCLUDE_DIR "${ARROW_WHEEL_DIR}/include")
set(_config "${ArrowWheel_INCLUDE_DIR}/arrow/util/config.h")
if(EXISTS "${_config}")
  file(STRINGS "${_config}" _lines REGEX "define ARROW_(VERSION_STRING|SO_VERSION) ")
  string(REGEX MATCH "VERSION_STRING \"([0-9.]+)" _ "${_lines}")
  set(ArrowWheel_VERSION "${CMAKE_MATCH_1}")
  string(REGEX MATCH "SO_VERSION \"([0-9]+)" _ "${_lines}")
  set(ArrowWheel_SOVERSION "${CMAKE_MATCH_1}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  ArrowWheel
  REQUIRED_VARS ArrowWheel_LIBRARY_DIR ArrowWheel_SOVERSION
  VERSION_VAR ArrowWheel_VERSION)

if(ArrowWheel_FOUND AND NOT TARGET ArrowWheel::arrow)
  foreach(_part arrow compute acero dataset parquet s3)
    if(_part STREQUAL "arrow" OR _part STREQUAL "parquet")
      set(_name "lib${_part}.so.${ArrowWheel_SOVERSION}")
    else()
      set(_name "libarrow_${_part}.so.${ArrowWheel_SOVERSION}")
    endif()
    add_library(ArrowWheel::${_part} SHARED IMPORTED)
    set_target_properties(
      ArrowWheel::${_part}
      PROPERTIES IMPORTED_LOCATION "${ArrowWheel_LIBRARY_DIR}/${_name}" IMPORTED_SONAME "${_name}")
    target_include_directories(ArrowWheel::${_part} SYSTEM INTERFACE "${ArrowWheel_INCLUDE_DIR}")
    if(NOT _part STREQUAL "arrow")
      target_link_libraries(ArrowWheel::${_part} INTERFACE ArrowWheel::arrow)
    endif()
  endforeach()
  target_link_libraries(ArrowWheel::acero INTERFACE ArrowWheel::compute)
  target_link_libraries(ArrowWheel::dataset INTERFACE ArrowWheel::acero ArrowWheel::parquet)
endif()
