#!/bin/sh
# Compiles the library, and a program that uses all of it, in each standard of C and C++ by each compiler that is installed. There must be no
# warning. C++98 has no macros with a variable number of arguments, as those of dn_bind.h; compilers have them, and -Wpedantic mentions it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$here/../src
warnings="-Wall -Wextra -Wpedantic -Werror"
count=0

# check COMPILER FLAG...
check() {
    "$1" --version >/dev/null 2>&1 || return 0
    compiler=$1
    shift
    # shellcheck disable=SC2086  # words are meant to be split
    "$compiler" $warnings "$@" -fsyntax-only -DROW=0 -I"$source" "$source"/*.c "$here/files.c" || { echo "FAILED: $compiler $*"; exit 1; }
    count=$((count + 1))
}
for c in gcc clang; do
    check $c -Wconversion -std=c99
done
for c in g++ clang++; do
    # The host's stdint.h defines its macros in every standard; that in bare/ does not.
    check $c -Wconversion -x c++ -std=c++98 -Wno-variadic-macros -isystem "$here/bare"
    check $c -Wconversion -x c++ -std=c++11
    check $c -Wconversion -x c++ -std=c++20
done
# Without an option, avr-g++ 5.4 compiles C++98. As C++, it warns of every shift of 8 bits with -Wconversion.
check avr-g++ -mmcu=atmega328p -x c++ -Wno-variadic-macros
check arm-none-eabi-g++ -mcpu=cortex-m0plus -mthumb -x c++ -std=gnu++98 -Wno-variadic-macros
test $count -ge 4 || { echo "FAILED: only $count compilers"; exit 1; }
