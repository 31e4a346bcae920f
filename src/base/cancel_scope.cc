#include "base/cancel_scope.h"

namespace kinjo::base {
namespace {

thread_local const CancelScope* t_innermost = nullptr;

}  // namespace

CancelScope::CancelScope(const CancelToken& token) : token_(token), outer_(t_innermost) {
  t_innermost = this;
}

CancelScope::~CancelScope() { t_innermost = outer_; }

arrow::Status CancelScope::Check() {
  return t_innermost == nullptr ? arrow::Status::OK() : t_innermost->token_.Check();
}

}  // namespace kinjo::base
