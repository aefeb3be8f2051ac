#!/bin/sh
# Builds every example for the UNO, runs it on a simulated one, and compares its serial output with the golden files in this folder:
#     run.sh DIRECTORY           DIRECTORY receives the builds
#     run.sh DIRECTORY bless     rewrites the golden files, and the table of sizes in the README
# Needs the packages of build.sh, libsimavr-dev and libelf-dev. If they are missing, the test is skipped with exit code 77.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mode=${2:-compare}
failed=0

for needed in /usr/include/simavr/sim_avr.h /usr/include/libelf.h "${ARDUINO_AVR:-/usr/share/arduino/hardware/arduino/avr}/platform.txt"; do
    if ! [ -e "$needed" ]; then
        echo "skipped: apt-get install arduino-core-avr gcc-avr avr-libc libsimavr-dev libelf-dev" >&2
        exit 77
    fi
done
mkdir -p "$out"
cc -std=gnu99 -Wall -Wextra -O2 "$here/uno.c" -o "$out/uno" -lsimavr -lelf
"$here/build.sh" "$out"

# compare GOLDEN NEW: overwrites the golden file, or prints the difference.
compare() {
    if [ "$mode" = bless ]; then
        cp "$2" "$1"
    elif ! diff -u "$1" "$2"; then
        failed=1
    fi
}

# binary EXAMPLE SIMULATOR-ARGUMENTS...: compares the output as hex, 32 bytes on a line.
binary() {
    name=$1
    shift
    "$out/uno" "$out/$name.elf" "$@" > "$out/$name.bin"
    od -An -v -tx1 -w32 "$out/$name.bin" | tr -d ' ' > "$out/$name.hex"
    compare "$here/$name.hex" "$out/$name.hex"
}

# text EXAMPLE SIMULATOR-ARGUMENTS...: compares the output as lines.
text() {
    name=$1
    shift
    "$out/uno" "$out/$name.elf" "$@" | tr -d '\r' > "$out/$name.txt"
    compare "$here/$name.txt" "$out/$name.txt"
}

binary Sensor 500 adc 0 2502
binary Sink 100 adc 0 2502
text Bind 100
text Json 100
# A command in two pieces; one with an unknown key; one with a value of the wrong type; one that is not PSON; one that is cut off; a valid one again.
binary Receive 1000 \
    send c2836c6564618670 20 send 6572696f641ff403 40 \
    send c28178e1c1826161048670 120 send 6572696f641e 121 \
    send c1836c656405 200 \
    send c17f 300 \
    send c28170 400 \
    send c0 600

# Flash and RAM as the IDE counts them: .text + .data, and .data + .bss.
sizes() {
    printf '| example | flash, bytes | RAM, bytes |\n|---|---|---|\n'
    for elf in "$out"/*.elf; do
        "${AVR_GCC%gcc}size" -A "$elf" | awk -v name="$(basename "$elf" .elf)" '
            $1 == ".text" || $1 == ".data" { flash += $2 }
            $1 == ".data" || $1 == ".bss" { ram += $2 }
            END { printf "| %s | %d | %d |\n", name, flash, ram }'
    done
    printf '\nArduino core of Debian, avr-gcc %s, flags of the Arduino IDE.\n' "$("$AVR_GCC" -dumpversion)"
}
AVR_GCC=${AVR_GCC:-avr-gcc}
sizes > "$out/sizes.md"
cat "$out/sizes.md"

# The README's table may be off by 1 %, like the budgets. It is compared only with the compiler that it names, because others produce other sizes.
readme=$here/../../README.md
if [ "$mode" = bless ]; then
    awk -v sizes="$out/sizes.md" '
        /<!-- end sizes -->/ { inside = 0 }
        !inside { print }
        /<!-- begin sizes -->/ { inside = 1; while ((getline line < sizes) > 0) print line }' "$readme" > "$out/README.md"
    cp "$out/README.md" "$readme"
elif grep -q "avr-gcc $("$AVR_GCC" -dumpversion), flags" "$readme"; then
    awk -F'|' '
        function off(now, then) { return now - then > then / 100 || then - now > then / 100 }
        NR == FNR { if ($3 > 0) { flash[$2] = $3; ram[$2] = $4 } next }
        ($2 in flash) && (off(flash[$2], $3) || off(ram[$2], $4)) { print "README.md has other sizes:" $0; failed = 1 }
        END { if (failed) print "accept them with: run.sh DIRECTORY bless"; exit failed }' "$out/sizes.md" "$readme" || failed=1
fi
exit $failed
