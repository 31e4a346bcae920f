// What tests do with a Result that must hold a value. Uses gtest, which the test includes.
#pragma once

#include <utility>

/// Declares `name` from a Result, or ends the test.
#define KINJO_ASSERT_RESULT(name, expression)                \
  auto name##_result = (expression);                         \
  ASSERT_TRUE(name##_result.ok()) << name##_result.status(); \
  auto name = std::move(name##_result).ValueUnsafe()
