/* The numbers of the JSON reader. */
#include "dn_json_internal.h"

/* For a larger exponent, no text of DN_JSON_MAX bytes has enough digits to bring the number back into range. */
#define EXPONENT_MAX 100000000

void dn__json_begin_number(dn_json_reader *j, uint8_t c)
{
    dn__decimal_init(&j->number);
    j->exponent = 0;
    j->start = dn__json_offset(j);
    j->whole = true;
    j->negative = false;
    j->negative_exponent = false;
    j->state = MINUS;
    if (c == '-') j->negative = true;
    else dn__json_read_number(j, c);
}

bool dn__json_read_number(dn_json_reader *j, uint8_t c)
{
    bool digit = dn__is_digit(c);
    uint8_t state = j->state;
    switch (state) {
    case ZERO:
        if (digit) dn__json_malformed(j);
        break;
    case MINUS:
        if (c == '0') state = ZERO;
        else if (digit) state = DIGITS;
        break;
    case FRACTION_START:
        if (digit) state = FRACTION;
        break;
    case EXPONENT_START:
        if (c == '+' || c == '-') {
            j->negative_exponent = c == '-';
            j->state = EXPONENT_DIGIT;
            return true;
        }
        /* fall through */
    case EXPONENT_DIGIT:
        if (digit) state = EXPONENT;
        break;
    default: break;
    }
    if (digit) {
        j->state = state;
        c = (uint8_t)(c - '0');
        if (state == EXPONENT && j->exponent < EXPONENT_MAX) j->exponent = j->exponent * 10 + c;
    } else if (state < ZERO) {
        dn__json_malformed(j);
    } else if (c == '.' && state <= DIGITS) {
        j->whole = false;
        j->state = FRACTION_START;
    } else if ((c == 'e' || c == 'E') && state != EXPONENT) {
        j->whole = false;
        j->state = EXPONENT_START;
    } else {
        return false;
    }
    return true;
}

void dn__json_end_number(dn_json_reader *j)
{
    const uint64_t least = (uint64_t)1 << 63; /* the magnitude of -2^63 */
    dn__decimal *number = &j->number;
    uint64_t magnitude;
    if (number->dropped && DN_JSON_DIGITS < 768) {
        dn__json_fail(j, DN_LIMIT, j->start);
        return;
    }
    uint32_t low;
    if (j->whole && dn__decimal_low(number, &low) && !(j->negative && low == 0)) {
        dn__write_header(j->writer, low, j->negative ? DN__HEAD_NEGATIVE : DN__HEAD_UINT); /* links no 64-bit arithmetic */
    } else if (j->whole && dn__decimal_integer(number, &magnitude) && !(j->negative && (magnitude == 0 || magnitude > least))) {
        if (j->negative) dn_write_i64(j->writer, -(int64_t)(magnitude - 1) - 1);
        else dn_write_u64(j->writer, magnitude);
    } else {
        bool exact;
        number->exponent += j->negative_exponent ? -j->exponent : j->exponent;
        uint64_t bits = dn__decimal_bits(number, &exact);
        /* A subnormal binary64 keeps fewer digits than the 15 of all others. */
        if (!exact && (number->digits > 15 || dn__upper(&bits) < 0x10)) j->rounded = true;
        if (bits == DN__INFINITY || (j->whole && !exact)) {
            dn__json_fail(j, DN_RANGE, j->start);
            return;
        }
        if (j->negative) dn__add_upper(&bits, 0x8000);
        dn__write_double_bits(j->writer, bits);
    }
    dn__json_end_value(j);
}
