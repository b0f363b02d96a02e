// What      Whether records of a type may go to another thread. Most may; what is counted inside a
//           thread (`LocalPtr`), and what its author says so of, may not.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <leat/base/local_ptr.hpp>

namespace leat::dataflow {

namespace internal {
template <class T>
concept StaysOnItsWorker = requires { typename T::leat_stays_on_its_worker; };
}  // namespace internal

/// False for a type that must stay on its worker: specialise it, or give the type a member type
/// `leat_stays_on_its_worker`. Containers, pairs and the like follow what they hold.
template <class T>
struct IsSendable : std::bool_constant<!internal::StaysOnItsWorker<T>> {};

template <class T>
struct IsSendable<LocalPtr<T>> : std::false_type {};
template <class T>
struct IsSendable<const T> : IsSendable<T> {};
template <class T, std::size_t kSize>
struct IsSendable<std::array<T, kSize>> : IsSendable<T> {};
template <template <class...> class Wrapper, class... Ts>
struct IsSendable<Wrapper<Ts...>>
    : std::bool_constant<!internal::StaysOnItsWorker<Wrapper<Ts...>> &&
                         (IsSendable<Ts>::value && ...)> {};

template <class T>
concept Sendable = IsSendable<T>::value;

}  // namespace leat::dataflow
