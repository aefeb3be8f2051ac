#!/bin/sh
# Builds every example for the UNO as the Arduino IDE does, with the flags of its platform.txt:
#     build.sh DIRECTORY             writes DIRECTORY/<Example>.elf
#     build.sh DIRECTORY SKETCH      writes DIRECTORY/<Sketch>.elf, for the sketch in the folder SKETCH, whose printf prints fractions
# Needs arduino-core-avr, gcc-avr and avr-libc. AVR_GCC selects another avr-gcc, ARDUINO_AVR another core.
set -eu
avr=${AVR_GCC:-avr-gcc}
avr=${avr%gcc}
library=$(cd "$(dirname "$0")/../.." && pwd)
platform=${ARDUINO_AVR:-/usr/share/arduino/hardware/arduino/avr}
out=$1

board="-mmcu=atmega328p -DF_CPU=16000000L -DARDUINO=10819 -DARDUINO_AVR_UNO -DARDUINO_ARCH_AVR"
includes="-I$platform/cores/arduino -I$platform/variants/standard -I$library/src"
c="${avr}gcc -c -g -Os -std=gnu11 -ffunction-sections -fdata-sections -flto -fno-fat-lto-objects $board $includes"
cpp="${avr}g++ -c -g -Os -std=gnu++11 -fpermissive -fno-exceptions -ffunction-sections -fdata-sections \
-fno-threadsafe-statics -Wno-error=narrowing -flto $board $includes"
assembler="${avr}gcc -c -g -x assembler-with-cpp -flto $board $includes"
link="${avr}gcc -Os -g -flto -fuse-linker-plugin -Wl,--gc-sections -mmcu=atmega328p"

mkdir -p "$out/core" "$out/library"
rm -f "$out/core.a"
for source in "$platform"/cores/arduino/*.c "$platform"/cores/arduino/*.cpp "$platform"/cores/arduino/*.S; do
    object=$out/core/$(basename "$source").o
    case $source in
        *.c) $c -w "$source" -o "$object" ;;
        # The float.h of gcc 5 defines DECIMAL_DIG for C only.
        *.cpp) $cpp -w -DDECIMAL_DIG=__DECIMAL_DIG__ "$source" -o "$object" ;;
        *.S) $assembler -w "$source" -o "$object" ;;
    esac
    "${avr}gcc-ar" rcs "$out/core.a" "$object"
done
if [ $# -gt 1 ]; then
    name=$(basename "$2")
    $cpp -Wall -Wextra -Werror -x c++ -include Arduino.h "$2/$name.ino" -o "$out/$name.o"
    objects=
    for source in "$2"/src/*.c "$2"/src/*/*.c; do
        object=$out/library/$name-$(basename "$(dirname "$source")")-$(basename "$source").o
        $c -w "$source" -o "$object"
        objects="$objects $object"
    done
    # shellcheck disable=SC2086
    $link -Wl,-u,vfprintf -o "$out/$name.elf" "$out/$name.o" $objects "$out/core.a" -lprintf_flt -lm
    exit
fi
for source in "$library"/src/*.c; do
    $c -Wall -Wextra -Werror "$source" -o "$out/library/$(basename "$source").o"
done
for sketch in "$library"/examples/*/*.ino; do
    name=$(basename "$sketch" .ino)
    $cpp -Wall -Wextra -Werror -x c++ -include Arduino.h "$sketch" -o "$out/$name.o"
    $link -o "$out/$name.elf" "$out/$name.o" "$out"/library/*.o "$out/core.a" -lm
done
