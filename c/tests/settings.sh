#!/bin/sh
# A program whose settings differ from the library's must not link; one with the same settings must link and keep them:
#     settings.sh WORK COMPILER FLAG...      with the flags of the library's own build, including warnings and sanitizers
set -eu
work=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
source=$here/../src
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }

# library NAME FLAG...: builds lib-NAME.a
library() {
    name=$1
    shift
    mkdir "$name"
    for file in "$source"/*.c; do "$@" -I"$source" -c "$file" -o "$name/$(basename "$file" .c).o"; done
    ar cr "lib-$name.a" "$name"/*.o
}
library default "$@"
library nesting-4 "$@" -DDN_NESTING=4
library digits-20 "$@" -DDN_JSON_DIGITS=20

# link COMPILER FLAG... FILE...: links objects; -xnone keeps the compiler from treating them as sources
link() { "$@" -o program 2>errors; }

# links PROGRAM LIBRARY FLAG...: fails if the program does not link; otherwise runs it
links() {
    program=$1 library=$2
    shift 2
    "$@" -I"$source" -DPROGRAM="$program" -c "$here/settings.c" -o program.o || fail "program $program does not compile"
    link "$@" -xnone program.o "lib-$library.a" || return 1
    ./program || fail "program $program with the library '$library' does not keep its settings"
}
for program in 1 2 3; do
    links "$program" default "$@" || fail "program $program does not link: $(cat errors)"
    links "$program" nesting-4 "$@" -DDN_NESTING=4 || fail "program $program does not link with its own settings: $(cat errors)"
    links "$program" default "$@" -DDN_NESTING=4 && fail "program $program with DN_NESTING 4 links with 32"
    grep -q '_nesting_4' errors || fail "the linker does not name the setting: $(cat errors)"
    links "$program" nesting-4 "$@" && fail "program $program with DN_NESTING 32 links with 4"
done
links 3 digits-20 "$@" -DDN_JSON_DIGITS=20 || fail "program 3 does not link with its own settings: $(cat errors)"
links 3 default "$@" -DDN_JSON_DIGITS=20 && fail "DN_JSON_DIGITS 20 links with 768"
grep -q '_digits_20' errors || fail "the linker does not name the setting: $(cat errors)"

# Two files of one program with different settings, of which only one agrees with the library.
cat >begin.c <<'END'
#include <dn_pson.h>
#ifdef __cplusplus
extern "C"
#endif
void begin(dn_reader *r, const void *message, size_t size);
void begin(dn_reader *r, const void *message, size_t size) { dn_reader_init(r, message, size); }
END
"$@" -I"$source" -c begin.c -o begin.o
"$@" -I"$source" -DPROGRAM=4 -c "$here/settings.c" -o same.o
"$@" -I"$source" -DPROGRAM=4 -DDN_NESTING=4 -c "$here/settings.c" -o other.o
link "$@" -xnone same.o begin.o lib-default.a || fail "two files of the same settings do not link: $(cat errors)"
./program || fail "two files of the same settings do not run"
link "$@" -xnone other.o begin.o lib-default.a && fail "two files of different settings link"

# Every function with a reader as a parameter has the settings in its name. Store functions are exempt: they get the reader of their caller.
symbols() { nm "lib-$1.a" | sed -n 's/^[0-9a-f]* T _*//p' | sort; }
symbols default >all
test "$(wc -l <all)" -gt 60 || fail "the library has too few symbols for this test: $(cat all)"
sed -n 's/^[a-z].*[ *]\(dn_[a-z0-9_]*\)(.*dn_\(json_\)\{0,1\}reader \*.*;.*$/\1/p' "$source"/*.h | sort -u >readers
for name in $(cat readers) dn_check; do
    case $name in dn_store_*) continue ;; esac
    grep -qx "$name" all && fail "$name takes a reader, but not its settings"
    true
done
grep -q '^dn_read_key$' readers || fail "the headers have no functions that this test can read"

# The version is the same in all files.
version=$(sed -n 's/^#define DN_VERSION "\(.*\)"$/\1/p' "$source/dn_config.h")
parts=$(sed -n 's/^#define DN_VERSION_[MP][A-Z]* //p' "$source/dn_config.h" | paste -sd.)
test "$version" = "$parts" || fail "DN_VERSION is $version, its parts are $parts"
cd "$here/.."
for place in "CMakeLists.txt:VERSION $version " "library.json:\"version\": \"$version\"" "library.properties:version=$version" \
    "idf_component.yml:version: \"$version\""; do
    grep -q "${place#*:}" "${place%%:*}" || fail "${place%%:*} has another version than dn_config.h, $version"
done
