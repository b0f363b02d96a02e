#include <leat/actor/exit.hpp>

#include <leat/base/check.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

namespace leat::actor {
namespace {

std::string readable(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : mangled;
}

std::string text_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    return readable(typeid(e).name()) + ": " + e.what();
  } catch (const char* text) {
    return std::string("const char*: ") + text;
  } catch (const std::string& text) {
    return "std::string: " + text;
  } catch (int number) {
    return "int: " + std::to_string(number);
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return type != nullptr ? readable(type->name()) : "an exception of a foreign language";
  }
}

}  // namespace

std::string_view name_of(ExitKind kind) noexcept {
  switch (kind) {
    case ExitKind::normal:
      return "normal";
    case ExitKind::failed:
      return "failed";
    case ExitKind::cancelled:
      return "cancelled";
    case ExitKind::shutdown:
      return "shutdown";
    case ExitKind::killed:
      return "killed";
    case ExitKind::no_actor:
      return "no_actor";
  }
  return "?";
}

std::string Exit::text() const {
  if (exception_) return text_of(exception_);
  return kind_ == ExitKind::normal ? "normal" : why_;
}

void Exit::raise() const {
  LEAT_CHECK(!ok(), "a normal exit was to be thrown");
  if (exception_) std::rethrow_exception(exception_);
  throw Failure(why_);
}

}  // namespace leat::actor
