#!/bin/sh
# run.sh <machine> <source folder> <work folder> <file>: builds the file, and what it needs of ours, for
# another machine and runs it there, by qemu-user. Ends with 77, loudly, where a tool for that is absent.
set -eu
machine=$1 source=$2 work=$3 program=$4
compiler=$machine-linux-gnu-g++
emulator=$(command -v "qemu-$machine" || command -v "qemu-$machine-static" || true)
if ! command -v "$compiler" >/dev/null || [ -z "$emulator" ]; then
  echo "SKIPPED: no $compiler or no qemu-$machine (Debian: g++-$machine-linux-gnu, qemu-user)"
  exit 77
fi
mkdir -p "$work"
src=$source/src
"$compiler" -std=c++20 -O2 -Wall -Wextra -Werror -static -I "$src" -o "$work/switch" \
  "$program" \
  "$src"/leat/actor/fiber/calls.cpp "$src"/leat/actor/fiber/carrier.cpp "$src"/leat/actor/fiber/context.cpp \
  "$src"/leat/actor/fiber/fiber.cpp "$src"/leat/actor/preempt/turn.cpp \
  "$src"/leat/actor/stack/overflow.cpp "$src"/leat/actor/stack/stack_pool.cpp \
  "$src"/leat/actor/stack/stack_region.cpp "$src"/leat/base/os/address_space.cpp \
  "$src"/leat/base/os/fault.cpp "$src"/leat/base/os/signal_mask.cpp
exec "$emulator" "$work/switch"
