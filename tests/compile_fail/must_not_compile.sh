#!/bin/sh
# usage: must_not_compile.sh SNIPPET COMPILER FLAG...
# Fails unless the snippet compiles with RIGHT defined, does not without, and the errors hold every text that
# stands in the snippet behind "// expect: ".
snippet=$1
shift

if ! said=$("$@" -DRIGHT -fsyntax-only "$snippet" 2>&1); then
  printf '%s\n\nThe right form of the snippet does not compile.\n' "$said"
  exit 1
fi
if said=$("$@" -fsyntax-only "$snippet" 2>&1); then
  echo "The snippet compiles; it should not."
  exit 1
fi
status=0
sed -n 's|^// expect: ||p' "$snippet" | {
  while IFS= read -r text; do
    case $said in
      *"$text"*) ;;
      *) printf 'The compiler does not say: %s\n' "$text"; status=1 ;;
    esac
  done
  [ $status = 0 ] || printf '\nIt says:\n%s\n' "$said" | head -n 60
  exit $status
}
