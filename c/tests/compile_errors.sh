#!/bin/sh
# compile_errors.sh COMPILER FLAG...: checks that each case of compile_errors.c is an error, even with all warnings off, and that the file compiles
# without a warning when no case is selected.
source=$(cd "$(dirname "$0")" && pwd)/compile_errors.c
# C++98 has no macros with a variable number of arguments, but compilers have.
"$@" -Wall -Wextra -Wconversion -Wpedantic -Werror -Wno-unused-const-variable -Wno-variadic-macros -DERROR_CASE=0 "$source" || exit 1
failed=0
# shellcheck disable=SC2013  # a line is a number
for number in $(sed -n 's/^#.*if ERROR_CASE == \([0-9]*\) .*/\1/p' "$source"); do
    if "$@" -w -DERROR_CASE="$number" "$source" 2>/dev/null; then
        echo "compiles: $(grep "ERROR_CASE == $number " "$source")"
        failed=1
    fi
done
exit $failed
