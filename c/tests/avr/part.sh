#!/bin/sh
# Builds the library for an AVR, and runs part.c and json.c on it if RUNNER simulates that AVR:
#     part.sh WORK RUNNER MCU      RUNNER is part_run, or - to build only
set -eu
work=$1 runner=$2 mcu=$3
here=$(cd "$(dirname "$0")" && pwd)
source=$here/../../src
rm -rf "$work"
mkdir -p "$work"
cd "$work"
# -Wno-cpp: a core without a part has no header of its own.
flags="-mmcu=$mcu -std=gnu99 -Os -Wall -Wextra -Wno-cpp -Werror -ffunction-sections -fdata-sections -I$source"
# shellcheck disable=SC2086  # words are meant to be split
for file in "$source"/*.c; do avr-gcc $flags -c "$file"; done
test "$runner" = - && exit
for lto in -fno-lto -flto; do
    # shellcheck disable=SC2086  # words are meant to be split
    avr-gcc $flags $lto "$here/part.c" "$source"/dn_*.c -Wl,--gc-sections -o part.elf
    avr-size part.elf
    "$runner" "$mcu" part.elf
    case $mcu in *tiny*|atmega8) continue ;; esac # 8 KB of flash are not enough for JSON in both directions
    # shellcheck disable=SC2086  # words are meant to be split
    avr-gcc $flags $lto "$here/json.c" "$source"/dn_*.c -Wl,--gc-sections -o json.elf
    avr-size json.elf
    "$runner" "$mcu" json.elf 4000000
done
