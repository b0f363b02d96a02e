// What      Shared ownership inside one thread: a count in the object, and no atomics.
// Invariants  (1) All LocalPtr to one object live in one thread at a time; the whole group may move
//             to another thread with whatever hands it over.
// Limits    Cycles leak. A type with subclasses needs a virtual destructor.
// Cost      One allocation per object, one word per pointer, one plain increment per copy.
// Source    boost::intrusive_ptr.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <utility>

namespace leat {

/// Base of `T`: carries the count of the `LocalPtr<T>` that own it.
template <class T>
class LocalCounted {
 public:
  /// How many `LocalPtr` own this object.
  [[nodiscard]] std::uint32_t local_owners() const noexcept { return owners_; }

 protected:
  LocalCounted() noexcept = default;
  // The count belongs to the place, not to the value.
  LocalCounted(const LocalCounted&) noexcept {}
  LocalCounted& operator=(const LocalCounted&) noexcept { return *this; }
  ~LocalCounted() = default;

 private:
  friend void intrusive_ptr_add_ref(const LocalCounted* object) noexcept { ++object->owners_; }
  friend void intrusive_ptr_release(const LocalCounted* object) noexcept {
    if (--object->owners_ == 0) destroy(static_cast<const T*>(object));
  }
  // Out of line: inlined into several releases in a row, g++ 12 takes the later ones for uses after
  // the free.
  [[gnu::noinline]] static void destroy(const T* object) noexcept { delete object; }

  mutable std::uint32_t owners_ = 0;
};

template <class T>
using LocalPtr = boost::intrusive_ptr<T>;

/// Makes a `T` on the heap, owned by the pointer returned and its copies.
template <class T, class... Args>
[[nodiscard]] LocalPtr<T> make_local(Args&&... args) {
  return LocalPtr<T>(new T(std::forward<Args>(args)...));
}

}  // namespace leat
