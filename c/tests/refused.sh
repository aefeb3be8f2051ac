#!/bin/sh
# refused.sh COMPILER FLAG...: checks that each part of refused.c is an error, even with all warnings off, and that the rest compiles without a
# warning.
source=$(cd "$(dirname "$0")" && pwd)/refused.c
"$@" -Wall -Wextra -Wconversion -Wpedantic -Werror -Wno-unused-const-variable -DREFUSED=0 "$source" || exit 1
failed=0
for number in $(sed -n 's/^#.*if REFUSED == \([0-9]*\) .*/\1/p' "$source"); do
    if "$@" -w -DREFUSED="$number" "$source" 2>/dev/null; then
        echo "compiles: $(grep "REFUSED == $number " "$source")"
        failed=1
    fi
done
exit $failed
