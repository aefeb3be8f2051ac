#!/bin/sh
# Checks the README's table of files: for each use that a row names, a program of files.c links with the files of the row, and with none less:
#     files.sh [bless]      bless writes the table to the README
# Each program is compiled as C99 and as C++98, which is the default of older compilers for Arduino boards; the library is C in both cases.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$here/../src readme=$here/../README.md
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }

for file in "$source"/*.c; do gcc -std=c99 -I"$source" -c "$file"; done
ar cr lib.a dn_*.o

# compile ROW: makes ROW.c.o of C, and ROW.cxx.o of C++
compile() {
    gcc -std=c99 -DROW="$1" -I"$source" -c "$here/files.c" -o "$1.c.o"
    g++ -x c++ -std=c++98 -DROW="$1" -I"$source" -c "$here/files.c" -o "$1.cxx.o"
}

# Every function of the library is in a program.
compile 0
nm lib.a | sed -n 's/^[0-9a-f]* T \(dn_[a-z].*\)/\1/p' | sort >all
nm -u 0.c.o | sed -n 's/^ *U //p' | sort >used
test "$(wc -l <all)" -gt 50 || fail "the library has too few symbols for this test: $(cat all)"
missing=$(comm -23 all used)
test -z "$missing" || fail "no row of files.c has $missing"

# The rows of files.c: a number and a use.
sed -n 's/^#if ROW == 0 || ROW == \([0-9]*\) \/\* \(.*\) \*\/$/\1 \2/p' "$here/files.c" >rows
{
    echo "Which of \`src/*.c\` a program needs: those of each row that it uses. All of them include \`dn_pson.h\`, \`dn_config.h\`, \`dn_internal.h\` and"
    echo "\`dn_avr.h\`, binding \`dn_bind.h\`, JSON \`dn_json.h\`, \`dn_decimal.h\` and \`dn_words.h\`, and parsing JSON \`dn_json_internal.h\`."
    echo "\`tests/files.sh bless\` writes this table."
    echo
    echo "| to | files |"
    echo "|---|---|"
    while read -r row use; do
        compile "$row"
        gcc "$row.c.o" lib.a -o program -Wl,-Map=map
        files=$(sed -n 's/^lib\.a(\(dn_[a-z0-9_]*\)\.o).*/`\1.c`/p' map | sort -u | paste -sd, | sed 's/,/, /g')
        test -n "$files" || fail "cannot parse the linker's map" >&2
        echo "| $use | $files |"
    done <rows
} >table

# What the README says, row by row: it links, and the linker has no use for fewer files.
sed -n '/<!-- begin files -->/,/<!-- end files -->/p' "$readme" | sed '1d;$d' >documented
if [ "${1:-}" = bless ]; then
    sed -e '/<!-- begin files -->/r table' -e '/<!-- begin files -->/,/<!-- end files -->/{/<!-- .* files -->/!d}' "$readme" >new
    cat new >"$readme"
    cp table documented
fi
linked=0
while read -r row use; do
    objects=$(sed -n "s/^| $use | \(.*\) |$/\1/p" documented | tr -d '`,' | sed 's/\.c\>/.o/g')
    test -n "$objects" || fail "the README has no row for: $use"
    # shellcheck disable=SC2086  # words are meant to be split
    gcc "$row.c.o" $objects -o program || fail "the files for '$use' do not link"
    # shellcheck disable=SC2086  # words are meant to be split
    g++ "$row.cxx.o" $objects -o program || fail "the files for '$use' do not link with C++"
    linked=$((linked + 1))
done <rows
test "$linked" = "$(grep -c '^| .*`dn_' documented)" || fail "the README has rows that are not in files.c"
diff documented table || fail "the README has other files than needed; tests/files.sh bless updates it"
