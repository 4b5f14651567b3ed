// The work memory of one thread: arrays are taken one after the other and given back together.
#pragma once

#include "views.hpp"

namespace kw {

class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  // Return room for `count` numbers, aligned to 64 bytes and not initialised.
  template <class T>
  KW_INLINE T* take(Size count) {
    return static_cast<T*>(take_bytes(count * static_cast<Size>(sizeof(T))));
  }

  // Return how much is taken now; give back everything that was taken since.
  KW_INLINE Size mark() const { return taken_; }
  void rewind(Size mark);

  // Free all memory. Nothing may be taken at this time.
  void release();

  Size kept_bytes() const { return size_; }

 private:
  // A block beyond the kept buffer, freed when it is given back.
  struct Extra {
    Extra* before;
    Size mark;
  };

  void* take_bytes(Size n_bytes);
  void grow(Size wanted);

  char* buffer_ = nullptr;
  Size size_ = 0;
  Size taken_ = 0;   // at this time, with the extra blocks
  Size wanted_ = 0;  // the most that was taken at a time
  Extra* extra_ = nullptr;
};

// Gives back what a function took when it ends.
class Borrowed {
 public:
  KW_INLINE explicit Borrowed(Workspace& work) : work_(work), mark_(work.mark()) {}
  KW_INLINE ~Borrowed() { work_.rewind(mark_); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

 private:
  Workspace& work_;
  Size mark_;
};

}  // namespace kw
