#if defined(__AVR__)
#include <avr/pgmspace.h>
#define FLASH PROGMEM
#define FLASH_8(place) pgm_read_byte(&(place))
#define FLASH_16(place) pgm_read_word(&(place))
#define FLASH_32(place) pgm_read_dword(&(place))
#else
#define FLASH
#define FLASH_8(place) (place)
#define FLASH_16(place) (place)
#define FLASH_32(place) (place)
#endif

