// What      Values to bytes and back: all of `codec/`. What the bytes are stands in codec/codec.hpp.
#pragma once

#include <leat/base/codec/bytes.hpp>
#include <leat/base/codec/codec.hpp>
#include <leat/base/codec/inline.hpp>
#include <leat/base/codec/standard.hpp>
