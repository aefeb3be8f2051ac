/* Prints the texts, numbers and values of an answer. */
#include "conform.h"

void print(const char *literal)
{
#if defined(__AVR__)
    for (char c; (c = (char)pgm_read_byte(literal)) != 0; literal++) port_put(c);
#else
    for (; *literal; literal++) port_put(*literal);
#endif
}

void print_unsigned(uint64_t n)
{
    char digits[20];
    uint8_t count = 0;
    do digits[count++] = (char)('0' + n % 10);
    while (n /= 10);
    while (count) port_put(digits[--count]);
}

void print_signed(int64_t n)
{
    port_put('i');
    if (n < 0) port_put('-');
    print_unsigned(n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

static char hex_digit(uint8_t n)
{
    return (char)(n < 10 ? '0' + n : 'a' + n - 10);
}

void print_hex(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        port_put(hex_digit(bytes[i] >> 4));
        port_put(hex_digit(bytes[i] & 15));
    }
}

void print_error(dn_error kind, size_t offset)
{
    PRINT("error ");
    print(dn_error_name(kind));
    port_put(' ');
    print_unsigned(offset);
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

size_t decode_hex(char *text)
{
    size_t size = 0;
    for (; text[2 * size]; size++) {
        int high = nibble(text[2 * size]);
        int low = high < 0 ? -1 : nibble(text[2 * size + 1]);
        if (low < 0) return SIZE_MAX;
        text[size] = (char)(high << 4 | low);
    }
    return size;
}

uint64_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t sign = (uint64_t)(bits >> 31) << 63;
    uint64_t mantissa = bits & 0x7fffff;
    uint64_t exponent = (bits >> 23) & 0xff;
    if (exponent == 0xff) return mantissa ? UINT64_C(0x7ff8000000000000) : sign | UINT64_C(0x7ff) << 52;
    if (exponent == 0) {
        if (mantissa == 0) return sign;
        for (exponent = 1; !(mantissa & 0x800000); exponent--) mantissa <<= 1;
        mantissa &= 0x7fffff;
    }
    return sign | (exponent + 1023 - 127) << 52 | mantissa << 29;
}

uint64_t bits_of_double(double value)
{
    uint64_t bits = 0;
    if (sizeof value == 4) return bits_of_float((float)value);
    memcpy(&bits, &value, sizeof value);
    return bits;
}

/* Prints the number whose binary64 has `bits` as an integer. Returns false if it is not one. */
static bool print_double_as_integer(uint64_t bits)
{
    int exponent = (int)((bits >> 52) & 0x7ff) - 1023;
    uint64_t significand = (bits << 11) | (uint64_t)1 << 63;
    if (bits == 0) {
        PRINT("i0");
        return true;
    }
    if (exponent < 0 || exponent > 63) return false;
    uint64_t magnitude = significand >> (63 - exponent);
    if (magnitude << (63 - exponent) != significand) return false;
    bool negative = bits >> 63;
    if (negative && magnitude > (uint64_t)1 << 63) return false;
    port_put('i');
    if (negative) port_put('-');
    print_unsigned(magnitude);
    return true;
}

void print_double(uint64_t bits)
{
    uint8_t bytes[8];
    if (bits << 1 > UINT64_C(0xffe0000000000000)) bits = UINT64_C(0x7ff8000000000000);
    for (uint8_t i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> (56 - 8 * i));
    if (print_double_as_integer(bits)) return;
    port_put('d');
    print_hex(bytes, 8);
}

/* Returns the bits of the current binary64 where `double` cannot hold it. */
static uint64_t bits_in_message(const dn_reader *r)
{
    uint64_t bits = 0;
    for (uint8_t i = 0; i < 8; i++) bits = bits << 8 | ((const uint8_t *)r->at)[-1 - i];
    return bits;
}

/* Prints the current number as an integer. Returns false if it is not one. */
static bool print_item_as_integer(const dn_reader *r)
{
    dn_reader as_i64 = *r;
    dn_reader as_u64 = *r;
    int64_t i = dn_get_i64(&as_i64);
    uint64_t u = dn_get_u64(&as_u64);
    if (as_i64.error && as_u64.error) return false;
    port_put('i');
    if (!as_u64.error) {
        print_unsigned(u);
        return true;
    }
    port_put('-');
    print_unsigned(0 - (uint64_t)i);
    return true;
}

void print_item(dn_reader *r)
{
    switch (r->type) {
    case DN_NULL: port_put('n'); break;
    case DN_BOOL: port_put(dn_get_bool(r) ? 't' : 'f'); break;
    case DN_TEXT:
    case DN_BYTES:
        port_put(r->type == DN_TEXT ? 's' : 'b');
        print_hex((const uint8_t *)dn_chars(r), (size_t)r->n);
        break;
    case DN_UINT:
    case DN_NEGATIVE:
        if (!print_item_as_integer(r)) PRINT("i<");
        break;
    case DN_FLOAT:
        if (!print_item_as_integer(r)) print_double(bits_of_float(dn_get_float(r)));
        break;
    case DN_DOUBLE:
        if (!print_item_as_integer(r)) print_double(sizeof(double) == 8 ? bits_of_double(dn_get_double(r)) : bits_in_message(r));
        break;
    default: PRINT("fault no such item");
    }
}
