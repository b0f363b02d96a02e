// What      Whether records of a type may go to another thread. Most may; what is counted inside a
//           thread (`LocalPtr`), and what its author says so of, may not.
#pragma once

#include <type_traits>
#include <utility>

#include <leat/base/local_ptr.hpp>

namespace leat::dataflow {

/// Specialise as false for a type that must stay on its worker. Containers, pairs and the like
/// follow what they hold.
template <class T>
struct IsSendable : std::true_type {};

template <class T>
struct IsSendable<LocalPtr<T>> : std::false_type {};
template <class T>
struct IsSendable<const T> : IsSendable<T> {};
template <template <class...> class Wrapper, class... Ts>
struct IsSendable<Wrapper<Ts...>> : std::bool_constant<(IsSendable<Ts>::value && ...)> {};
template <class T>
  requires requires { typename T::leat_stays_on_its_worker; }
struct IsSendable<T> : std::false_type {};

template <class T>
concept Sendable = IsSendable<T>::value;

}  // namespace leat::dataflow
