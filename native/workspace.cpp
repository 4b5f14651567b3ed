#include "workspace.hpp"

#include <algorithm>
#include <new>

namespace kw {

namespace {

constexpr std::align_val_t kAlignment{64};
// Bytes that a thread keeps from call to call.
constexpr Size kLeastKept = Size{1} << 16;
constexpr Size kMostKept = Size{1} << 25;

char* allocate(Size n_bytes) {
  return static_cast<char*>(::operator new(static_cast<std::size_t>(n_bytes), kAlignment));
}

void free_block(void* block) { ::operator delete(block, kAlignment); }

}  // namespace

Workspace::~Workspace() { release(); }

void* Workspace::take_bytes(Size n_bytes) {
  n_bytes = std::max(n_bytes + 63, Size{64}) / 64 * 64;
  if (taken_ == 0) grow(std::max(wanted_, n_bytes));
  const Size start = taken_;
  taken_ += n_bytes;
  wanted_ = std::max(wanted_, taken_);
  if (taken_ <= size_) return buffer_ + start;
  char* block = nullptr;
  try {
    block = allocate(n_bytes + 64);
  } catch (...) {
    taken_ = start;
    throw;
  }
  extra_ = new (block) Extra{extra_, start};
  return block + 64;
}

// Make the kept buffer as large as all that was ever taken at a time, up to its limit.
void Workspace::grow(Size wanted) {
  const Size size = std::clamp(wanted, kLeastKept, kMostKept);
  if (size <= size_) return;
  release();
  buffer_ = allocate(size);
  size_ = size;
}

void Workspace::rewind(Size mark) {
  while (extra_ != nullptr && extra_->mark >= mark) {
    Extra* before = extra_->before;
    free_block(extra_);
    extra_ = before;
  }
  taken_ = mark;
}

void Workspace::release() {
  rewind(0);
  free_block(buffer_);
  buffer_ = nullptr;
  size_ = wanted_ = 0;
}

}  // namespace kw
