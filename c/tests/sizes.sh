#!/bin/sh
# Compares the sizes of the types, which are those of symbols in an object file, with the README:
#     sizes.sh [bless]      bless writes them to the README
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$here/../src readme=$here/../README.md
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"

types="dn_writer dn_sink dn_reader dn_mark dn_json_reader dn_field dn_struct"
{
    echo '#include <dn_bind.h>'
    echo '#include <dn_json.h>'
    for type in $types; do echo "char size_of_${type}[sizeof($type)];"; done
} >types.c
sizes() { "$@" -std=c99 -I"$source" -c types.c -o types.o && "${nm:-nm}" -S types.o | sed -n 's/^[0-9a-f]* \([0-9a-f]*\) . size_of_/\1 /p'; }
sizes avr-gcc -mmcu=atmega328p -fno-common >avr
sizes mips-linux-gnu-gcc -fno-common >bits32
sizes gcc -fno-common >bits64
size_in() { printf '%d' "0x$(sed -n "s/ $2\$//p" "$1")"; }

{
    echo "Bytes of RAM that the types take, with the default settings; most of a reader is a \`size_t\` for each level of \`DN_NESTING\`."
    echo "\`tests/sizes.sh bless\` writes this."
    echo
    echo "| | AVR | 32 bits | 64 bits |"
    echo "|---|---:|---:|---:|"
    for type in $types; do echo "| \`$type\` | $(size_in avr "$type") | $(size_in bits32 "$type") | $(size_in bits64 "$type") |"; done
} >table

sed -n '/<!-- begin types -->/,/<!-- end types -->/p' "$readme" | sed '1d;$d' >documented
if [ "${1:-}" = bless ]; then
    sed -e '/<!-- begin types -->/r table' -e '/<!-- begin types -->/,/<!-- end types -->/{/<!-- .* types -->/!d}' "$readme" >new
    cat new >"$readme"
else
    diff documented table || { echo "the README has other sizes; tests/sizes.sh bless updates it"; exit 1; }
fi
