#include "base/error_cause.h"

namespace kinjo::base {

namespace {

class CauseDetail final : public arrow::StatusDetail {
 public:
  CauseDetail(std::shared_ptr<arrow::StatusDetail> own, arrow::Status cause)
      : own_(std::move(own)), cause_(std::move(cause)) {}

  const char* type_id() const override { return "kinjo::CauseDetail"; }
  std::string ToString() const override {
    return (own_ == nullptr ? "" : own_->ToString() + "; ") + "then: " + cause_.ToString();
  }

  const arrow::StatusDetail* own() const { return own_.get(); }
  const arrow::Status& cause() const { return cause_; }

 private:
  std::shared_ptr<arrow::StatusDetail> own_;
  arrow::Status cause_;
};

}  // namespace

arrow::Status WithCause(const arrow::Status& status, const arrow::Status& cause) {
  return status.WithDetail(std::make_shared<CauseDetail>(status.detail(), cause));
}

arrow::Status CauseOf(const arrow::Status& status) {
  const auto* detail = dynamic_cast<const CauseDetail*>(status.detail().get());
  return detail == nullptr ? arrow::Status::OK() : detail->cause();
}

const ErrorDetail* DetailOf(const arrow::Status& status) {
  const arrow::StatusDetail* detail = status.detail().get();
  if (const auto* caused = dynamic_cast<const CauseDetail*>(detail)) detail = caused->own();
  return dynamic_cast<const ErrorDetail*>(detail);
}

}  // namespace kinjo::base
