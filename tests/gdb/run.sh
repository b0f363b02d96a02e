#!/bin/sh
# run.sh <program> <script> <work folder>: looks at actors with gdb, in a process and in its core dump. Ends with
# 77, loudly, where that cannot be tried.
set -eu
program=$1 script=$2 work=$3
if ! command -v gdb >/dev/null || ! gdb -nx -batch -ex 'python print(1)' 2>/dev/null | grep -q 1; then
  echo "SKIPPED: no gdb that knows Python"
  exit 77
fi
mkdir -p "$work"
look() {  # look <text> <gdb's arguments>: what gdb says of the actors
  text=$1
  shift
  gdb -nx -batch -ex 'set debuginfod enabled off' "$@" -ex "source $script" -ex 'leat actors' \
    -ex 'leat actor all' -ex 'leat actor 9.9' >"$text" 2>&1 </dev/null || true
  for wanted in 'runtime 0: 3 actors' '"host": waits for a message to it' '"main": runs in thread' \
    '"fresh": can run' 'wait_for_a_guest' 'stop_here' 'it was not run yet' \
    'found nobody of that name'; do
    if ! grep -q -- "$wanted" "$text"; then
      cat "$text"
      echo "asked for \"$wanted\" in $text; found none"
      exit 1
    fi
  done
}

# A process that runs.
if ! gdb -nx -batch -ex 'set debuginfod enabled off' -ex run "$program" 2>&1 </dev/null |
  grep -q SIGABRT; then
  echo "SKIPPED: gdb may not run a program here"
  exit 77
fi
look "$work/live.txt" -ex run "$program"

# What the kernel left of one that has ended. (Of gdb's own core dumps the stacks are missing: it does not
# get past their guards.)
case $(cat /proc/sys/kernel/core_pattern) in
'|'* | */*)
  echo "gdb: well; core dumps go elsewhere here, so none was looked at"
  exit 0
  ;;
esac
cores=$work/cores
rm -rf "$cores"
mkdir -p "$cores"
(cd "$cores" && ulimit -c "$(ulimit -H -c)" && "$program") >/dev/null 2>&1 || true
core=$(find "$cores" -type f | head -n 1)
if [ -z "$core" ]; then
  echo "gdb: well; no core dump was left, so none was looked at"
  exit 0
fi
look "$work/core.txt" "$program" "$core"
rm -rf "$cores"
echo "gdb: well"
