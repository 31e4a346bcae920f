# kinjo_wrap_condition_wait(<target>): lets a library that is shipped load beside the libstdc++ of GCC 11, as systems of
# glibc 2.34 have it. See condition_wait.cc.
set(KINJO_CONDITION_WAIT "${CMAKE_CURRENT_LIST_DIR}/condition_wait.cc")
function(kinjo_wrap_condition_wait target)
  target_sources(${target} PRIVATE "${KINJO_CONDITION_WAIT}")
  target_link_options(${target} PRIVATE "LINKER:--wrap=_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE")
endfunction()
