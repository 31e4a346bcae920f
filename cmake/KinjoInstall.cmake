# `cmake --install`: the program, the library, its headers, and what others' builds find it by (pkg-config, CMake).
# The library finds the Arrow that it was built with by its run path; a bundle for other machines is made elsewhere.
set_target_properties(kinjo PROPERTIES INSTALL_RPATH "${ArrowWheel_LIBRARY_DIR}")
set_target_properties(kinjo_program PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

install(TARGETS kinjo EXPORT KinjoTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS kinjo_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/kinjo" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set(_package "${CMAKE_INSTALL_LIBDIR}/cmake/Kinjo")
install(EXPORT KinjoTargets NAMESPACE Kinjo:: FILE KinjoConfig.cmake DESTINATION "${_package}")
include(CMakePackageConfigHelpers)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/KinjoConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/KinjoConfigVersion.cmake" DESTINATION "${_package}")

file(RELATIVE_PATH _up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/kinjo.pc.in" "${PROJECT_BINARY_DIR}/kinjo.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/kinjo.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
