// The main of every unit test program. Arrow's registry of compute functions may not grow while
// another thread looks something up in it, so all of them are registered before the first test, as
// the C ABI does before its first thread.
#include <iostream>

#include "arrow/compute/initialize.h"
#include "gmock/gmock.h"

int main(int argc, char** argv) {
  if (const arrow::Status started = arrow::compute::Initialize(); !started.ok()) {
    std::cerr << started.ToString() << "\n";
    return 1;
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
