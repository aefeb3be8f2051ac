#!/bin/sh
# Prints the worst-case stack of every public function, from the frames that the compiler reports (-fstack-usage) and the calls in the object files:
#     stack.sh [GCC-PREFIX FLAGS...]        stack.sh avr- -mmcu=atmega328p        stack.sh arm-none-eabi- -mcpu=cortex-m0plus
# Exits with 1 when a function calls itself, or has a frame of variable size. Two recursions are known and bounded: tables in the tables of dn_bind.h,
# and the sink, which calls itself to make room while it writes a block.
set -eu
prefix=${1:-avr-}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- -mmcu=atmega328p
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
for source in "$here"/../src/*.c; do
    "${prefix}gcc" "$@" -std=c99 -Os -w -ffunction-sections -fstack-usage -c "$source"
done
for object in *.o; do
    echo "file ${object%.o}"
    "${prefix}objdump" -t "$object"
    cat "${object%.o}.su"
    "${prefix}objdump" -dr "$object"
done | sed "s/_nesting_[0-9]*//g; s/_digits_[0-9]*//g" | awk -f "$here/stack.awk" -v title="$("${prefix}gcc" -dumpversion | sed "s/^/${prefix}gcc /") -Os $*"
