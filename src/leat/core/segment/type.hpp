// What      `segment_type<T>()`: what a segment says of elements of type `T`.
#pragma once

#include <leat/base/identity/hash.hpp>
#include <leat/base/type_name.hpp>
#include <leat/core/segment/spec.hpp>

#include <string>
#include <type_traits>

namespace leat::core {

/// Requires: `T` is trivially copyable. Name its members with LEAT_FIELDS, or only its name and size
/// are compared.
template <class T>
[[nodiscard]] SegmentType segment_type() {
  static_assert(std::is_trivially_copyable_v<T>,
                "segment_type: what processes share in memory is trivially copyable");
  return {layout_hash<T>(), sizeof(T), alignof(T), std::string(type_name<T>())};
}

}  // namespace leat::core
