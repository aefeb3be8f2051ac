#!/bin/sh
# Compares the sizes of the types and the files that a program needs with the README:
#     sizes.sh [bless]      bless writes them to the README
# The sizes are those of symbols in an object file; the files are those that the linker takes from a static library.
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
    for type in $types; do echo "char size_of_$type[sizeof($type)];"; done
} >types.c
sizes() { "$@" -std=c99 -I"$source" -c types.c -o types.o && "${nm:-nm}" -S types.o | sed -n 's/^[0-9a-f]* \([0-9a-f]*\) . size_of_/\1 /p'; }
sizes avr-gcc -mmcu=atmega328p -fno-common >avr
sizes mips-linux-gnu-gcc -fno-common >bits32
sizes gcc -fno-common >bits64
size_in() { printf '%d' "0x$(sed -n "s/ $2\$//p" "$1")"; }

for file in "$source"/*.c; do gcc -std=c99 -O2 -I"$source" -c "$file"; done
ar cr lib.a dn_*.o
# files FUNCTION...: prints the sources that a program with these functions links
files() {
    {
        echo '#include <dn_bind.h>'
        echo '#include <dn_json.h>'
        echo 'typedef void (*any)(void);'
        echo 'any functions[] = {'
        for function; do echo "(any)$function,"; done
        echo '}; int main(void) { return functions[0] == 0; }'
    } >program.c
    gcc -std=c99 -O2 -I"$source" program.c lib.a -o program -Wl,-Map=map
    list=$(sed -n 's/^lib\.a(\(dn_[a-z0-9_]*\)\.o).*/`\1.c`/p' map | sort -u | paste -sd, | sed 's/,/, /g')
    test -n "$list" || { echo "cannot parse the linker's map" >&2; exit 1; }
    echo "$list"
}
# row WHAT FUNCTION...
row() { what=$1; shift; list=$(files "$@"); echo "| $what | $list |"; }

{
    echo "Bytes of RAM that the types take, with the default settings; most of a reader is a \`size_t\` for each level of \`DN_NESTING\`."
    echo "\`tests/sizes.sh bless\` writes this and the next table."
    echo
    echo "| | AVR | 32 bits | 64 bits |"
    echo "|---|---:|---:|---:|"
    for type in $types; do echo "| \`$type\` | $(size_in avr "$type") | $(size_in bits32 "$type") | $(size_in bits64 "$type") |"; done
    echo
    echo "Which of \`src/*.c\` a program needs; all of them include \`dn_pson.h\`, \`dn_config.h\`, \`dn_internal.h\` and \`dn_avr.h\`, binding \`dn_bind.h\`, JSON"
    echo "\`dn_json.h\`, \`dn_decimal.h\` and \`dn_words.h\`, and parsing JSON \`dn_json_internal.h\`."
    echo
    echo "| to | files |"
    echo "|---|---|"
    row "write" dn_write_uint dn_write_int dn_write_float dn_write_bool dn_write_text dn_write_map
    row "write 64 bits" dn_write_u64 dn_write_i64 dn_write_double
    row "write through a sink, or containers of an unknown size" dn_sink_init dn_write_map_open dn_write_close
    row "read" dn_next dn_read_key dn_copy_text dn_done dn_expect dn_more
    row "read, and convert numbers of up to 32 bits" dn_next dn_get_uint dn_get_int dn_get_float
    row "read 64 bits" dn_next dn_get_u64 dn_get_i64 dn_get_double
    row "skip, find" dn_skip dn_leave dn_find
    row "read strictly" dn_reader_strict dn_next
    row "check" dn_check
    row "bind" dn_bind_by dn_store_u8 dn_store_float dn_store_chars dn_store_array dn_store_struct
    row "bind 64 bits" dn_bind_by dn_store_u64 dn_store_double
    row "print JSON" dn_json_write
    row "parse JSON" dn_json_read
} >table

sed -n '/<!-- begin types -->/,/<!-- end types -->/p' "$readme" | sed '1d;$d' >documented
if [ "${1:-}" = bless ]; then
    sed -e '/<!-- begin types -->/r table' -e '/<!-- begin types -->/,/<!-- end types -->/{/<!-- .* types -->/!d}' "$readme" >new
    cat new >"$readme"
else
    diff documented table || { echo "the README has other sizes or files; tests/sizes.sh bless updates it"; exit 1; }
fi
