/* Version, settings, and function names that depend on a setting.
 *
 * DN_NESTING and DN_JSON_DIGITS change the sizes of dn_reader and dn_json_reader. A file compiled with other settings than the library
 * would pass structs that are too small. The settings are therefore part of the linker's names of the functions: dn_next is
 * dn_next_nesting_32, and the linker reports it as undefined when the library was compiled with another DN_NESTING. */
#ifndef DN_CONFIG_H
#define DN_CONFIG_H

/* The version of these headers. */
#define DN_VERSION_MAJOR 0
#define DN_VERSION_MINOR 1
#define DN_VERSION_PATCH 0
#define DN_VERSION "0.1.0"

/* The limit of nested maps and arrays, 1 to 32; each level costs a size_t of RAM in every reader. The limit of the wire format is 32. To
 * lower it, define it with a compiler option, as a plain decimal number, for all files of the program and of the library. */
#ifndef DN_NESTING
#if defined(__AVR__)
#define DN_NESTING 16
#else
#define DN_NESTING 32
#endif
#endif
#if DN_NESTING < 1 || DN_NESTING > 32
#error "DN_NESTING must be 1 to 32"
#endif

/* Significant digits of a decimal that the JSON reader keeps, 20 to 768; define it like DN_NESTING. A number halfway between two binary64
 * has at most 767 digits (the sum of 2^-1074 and the bits above it), so that after 768 digits only the presence of another nonzero digit
 * matters. Fewer digits save RAM: 40 need 118 instead of 334 bytes. A decimal with more digits, which hardly any sender writes, is then
 * rejected. */
#ifndef DN_JSON_DIGITS
#if defined(__AVR__)
#define DN_JSON_DIGITS 40
#else
#define DN_JSON_DIGITS 768
#endif
#endif
#if DN_JSON_DIGITS < 20 || DN_JSON_DIGITS > 768
#error "DN_JSON_DIGITS must be 20 to 768"
#endif

#define DN__JOIN(name, setting, value) name##_##setting##_##value
#define DN__WITH(name, setting, value) DN__JOIN(name, setting, value)
#define DN__NESTED(name) DN__WITH(name, nesting, DN_NESTING)
#define DN__DIGITS(name) DN__WITH(name, digits, DN_JSON_DIGITS)
#define DN__BOTH(name) DN__WITH(DN__WITH(name, nesting, DN_NESTING), digits, DN_JSON_DIGITS)

/* Every function that has a dn_reader as a parameter. dn_check has none, but its result depends on DN_NESTING. */
#define dn_reader_init DN__NESTED(dn_reader_init)
#define dn_reader_strict DN__NESTED(dn_reader_strict)
#define dn_next DN__NESTED(dn_next)
#define dn_done DN__NESTED(dn_done)
#define dn_error_offset DN__NESTED(dn_error_offset)
#define dn_get_uint DN__NESTED(dn_get_uint)
#define dn_get_int DN__NESTED(dn_get_int)
#define dn_get_u64 DN__NESTED(dn_get_u64)
#define dn_get_i64 DN__NESTED(dn_get_i64)
#define dn_get_float DN__NESTED(dn_get_float)
#define dn_get_double DN__NESTED(dn_get_double)
#define dn_get_bool DN__NESTED(dn_get_bool)
#define dn_expect DN__NESTED(dn_expect)
#define dn_read_key DN__NESTED(dn_read_key)
#define dn_more DN__NESTED(dn_more)
#define dn_copy_text DN__NESTED(dn_copy_text)
#define dn_chars_are DN__NESTED(dn_chars_are)
#define dn_skip DN__NESTED(dn_skip)
#define dn_leave DN__NESTED(dn_leave)
#define dn_find DN__NESTED(dn_find)
#define dn_check DN__NESTED(dn_check)
#define dn_bind_by DN__NESTED(dn_bind_by)
#define dn_read_struct_by DN__NESTED(dn_read_struct_by)
#define dn_json_write DN__NESTED(dn_json_write)
#define dn__fail DN__NESTED(dn__fail)

/* Every function that has a dn_json_reader, or the decimal in it, or its words, as a parameter. */
#define dn_json_reader_init DN__BOTH(dn_json_reader_init)
#define dn_json_read DN__BOTH(dn_json_read)
#define dn_json_finish DN__BOTH(dn_json_finish)
#define dn__json_fail DN__BOTH(dn__json_fail)
#define dn__json_malformed DN__BOTH(dn__json_malformed)
#define dn__json_end_value DN__BOTH(dn__json_end_value)
#define dn__json_begin_number DN__BOTH(dn__json_begin_number)
#define dn__json_read_number DN__BOTH(dn__json_read_number)
#define dn__json_end_number DN__BOTH(dn__json_end_number)
#define dn__decimal_init DN__DIGITS(dn__decimal_init)
#define dn__decimal_digit DN__DIGITS(dn__decimal_digit)
#define dn__decimal_digits DN__DIGITS(dn__decimal_digits)
#define dn__decimal_integer DN__DIGITS(dn__decimal_integer)
#define dn__decimal_low DN__DIGITS(dn__decimal_low)
#define dn__decimal_bits DN__DIGITS(dn__decimal_bits)
#define dn__words_multiply DN__DIGITS(dn__words_multiply)
#define dn__words_divide DN__DIGITS(dn__words_divide)
#define dn__words_trim_zeros DN__DIGITS(dn__words_trim_zeros)
#define dn__words_scale DN__DIGITS(dn__words_scale)
#define dn__words_shift_right DN__DIGITS(dn__words_shift_right)
#define dn__words_load DN__DIGITS(dn__words_load)
#define dn__words_to_uint64 DN__DIGITS(dn__words_to_uint64)
#define dn__words_bit_length DN__DIGITS(dn__words_bit_length)

#endif
