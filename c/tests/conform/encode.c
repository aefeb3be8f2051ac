/* Requests that write: the value of a line, in several ways that must produce the same bytes. */
#include "conform.h"
#include "dn_internal.h"

static uint8_t out[OUT_SIZE]; /* the message */
static uint8_t second[OUT_SIZE];
static char text[TEXT_SIZE];

/* How a value is written. */
typedef struct {
    bool single; /* uses the `single` policy for numbers */
    bool wide; /* uses the 64-bit functions also for values that fit 32 bits */
    bool open; /* writes containers with dn_write_map_open and dn_write_array_open */
} style;

/* An open container. */
typedef struct {
    uint32_t left; /* items left to write, including keys */
    uint32_t count;
    size_t opened;
    bool map;
} level;

/* ---- A value ------------------------------------------------------------------------------------------------------------------- */

static void write_integer(dn_writer *w, const char *digits, bool wide)
{
    bool negative = *digits == '-';
    uint64_t n = 0;
    for (digits += negative; *digits >= '0' && *digits <= '9'; digits++) n = n * 10 + (uint64_t)(*digits - '0');
    if (negative && n) {
        int64_t value = -(int64_t)(n - 1) - 1;
        if (wide || value < INT32_MIN) dn_write_i64(w, value);
        else dn_write_int(w, (int32_t)value);
    } else if (wide || n > UINT32_MAX) {
        if (n & 1 && n <= INT64_MAX) dn_write_i64(w, (int64_t)n);
        else dn_write_u64(w, n);
    } else {
        if (n & 1 && n <= INT32_MAX) dn_write_int(w, (int32_t)n);
        else dn_write_uint(w, (uint32_t)n);
    }
}

/* Converts the bits of a binary64 to the float of the same value. Returns false if no zero, normal or infinite float and no NaN has it. */
static bool convert_to_float(uint64_t bits, float *value)
{
    uint16_t exponent = (uint16_t)(bits >> 52 & 0x7ff);
    uint32_t sign = (uint32_t)(bits >> 32) & 0x80000000;
    uint32_t narrowed;
    if (bits << 1 == 0) narrowed = sign;
    else if (exponent == 0x7ff) narrowed = sign | 0x7f800000 | (bits << 12 ? 0x400000 : 0);
    else if (bits << 35 || exponent < 1023 - 126 || exponent > 1023 + 127) return false;
    else narrowed = sign | (uint32_t)(exponent - 1023 + 127) << 23 | ((uint32_t)(bits >> 29) & 0x7fffff);
    memcpy(value, &narrowed, sizeof narrowed);
    return true;
}

#if !defined(__AVR__)
/* Returns whether the `single` policy leaves the value unchanged: integers, and finite values that would become infinite. */
static bool is_kept_by_single(double value)
{
    float rounded = (float)value;
    if (rounded - rounded != 0 && value - value == 0) return true;
    if (!(value >= -9223372036854775808.0 && value < 18446744073709551616.0)) return false;
    return value < 0 ? (double)(int64_t)value == value : (double)(uint64_t)value == value;
}
#endif

/* Writes a number, given as 16 hex digits of its binary64. */
static void write_number(dn_writer *w, const char *digits, style how)
{
    uint64_t bits = 0;
    for (uint8_t i = 0; i < 16; i++) bits = bits << 4 | (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
    float value;
    if (!how.wide && convert_to_float(bits, &value)) {
        dn_write_float(w, value);
        return;
    }
#if defined(__AVR__)
    dn__write_double_bits(w, bits); /* double has only 32 bits here */
#else
    double wide;
    memcpy(&wide, &bits, sizeof wide);
    if (how.single && !is_kept_by_single(wide)) dn_write_float(w, (float)wide);
    else dn_write_double(w, wide);
#endif
}

/* Writes text or bytes, given in hex. Returns false if they do not fit this program's memory. */
static bool write_chars(dn_writer *w, const char *hex, bool bytes, bool key, style how)
{
    size_t digits = 0;
    while (hex[digits] > ' ') digits++;
    if (digits >= TEXT_SIZE) return false;
    memcpy(text, hex, digits);
    text[digits] = 0;
    size_t size = decode_hex(text);
    text[size] = 0;
    if (bytes) dn_write_bytes(w, text, size);
#if !defined(__AVR__) /* AVR expects keys in flash */
    else if (key && size <= 30 && !how.wide) dn_write_short_key(w, text, (uint8_t)(0x80 | size));
#endif
    else if (!how.wide && strlen(text) == size) dn_write_str(w, text);
    else dn_write_text(w, text, size);
    (void)key;
    return true;
}

static void open_container(dn_writer *w, level *in, const char *digits, bool map, style how)
{
    uint32_t n = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++) n = n * 10 + (uint32_t)(*digits - '0');
    in->map = map;
    in->count = n;
    in->left = map ? 2 * n : n;
    if (how.open) in->opened = map ? dn_write_map_open(w) : dn_write_array_open(w);
    else if (map) dn_write_map(w, n);
    else dn_write_array(w, n);
}

/* Writes the value at `at`. Returns false if it is too large or too deeply nested for this program. */
static bool write_value(dn_writer *w, const char *at, style how)
{
    level levels[DN_NESTING];
    uint8_t depth = 0;
    do {
        bool key = depth && levels[depth - 1].map && levels[depth - 1].left % 2 == 0;
        if (depth) levels[depth - 1].left--;
        switch (*at) {
        case 'n': dn_write_null(w); break;
        case 't': dn_write_bool(w, true); break;
        case 'f': dn_write_bool(w, false); break;
        case 'i': write_integer(w, at + 1, how.wide); break;
        case 'd': write_number(w, at + 1, how); break;
        case 's':
        case 'b':
            if (!write_chars(w, at + 1, *at == 'b', key, how)) return false;
            break;
        default:
            if (depth == DN_NESTING) return false;
            open_container(w, &levels[depth++], at + 1, *at == 'm', how);
        }
        while (*at && *at++ != ' ') {}
        while (depth && levels[depth - 1].left == 0) {
            depth--;
            if (how.open) dn_write_close(w, levels[depth].opened, levels[depth].count);
        }
    } while (depth);
    return true;
}

/* ---- Buffers and sinks --------------------------------------------------------------------------------------------------------- */

/* Compares the received bytes with `out`. Rejects more than `most` bytes. */
typedef struct {
    size_t taken;
    size_t most;
    bool same;
} comparison;

static bool compare(void *context, const uint8_t *bytes, size_t size)
{
    comparison *with = (comparison *)context;
    if (size > with->most - with->taken) return false;
    if (memcmp(out + with->taken, bytes, size) != 0) with->same = false;
    with->taken += size;
    return true;
}

/* Returns the size of the message, measured without a buffer, or SIZE_MAX if it does not fit this program's memory. */
static size_t measure(const char *value, style how)
{
    dn_writer w;
    dn_writer_init(&w, NULL, 0);
    if (!write_value(&w, value, how) || w.error || dn_written(&w) > OUT_SIZE) return SIZE_MAX;
    return dn_written(&w);
}

/* Writes the message to `to`, which has exactly its size. Returns whether it fits. */
static bool write_to_buffer(const char *value, style how, uint8_t *to, size_t size)
{
    dn_writer w;
    dn_writer_init(&w, to, size);
    write_value(&w, value, how);
    return !w.error && dn_written(&w) == size;
}

/* Writes the message through a sink with a chunk of `chunk` bytes. Returns whether the sink received the same bytes. */
static bool write_to_sink(const char *value, style how, size_t chunk, size_t size)
{
    comparison with = {0, SIZE_MAX, true};
    dn_sink sink;
    dn_sink_init(&sink, second, chunk, compare, &with);
    write_value(&sink.writer, value, how);
    return dn_sink_finish(&sink) && with.same && with.taken == size && dn_written(&sink.writer) == size;
}

void encode(const char *value, bool single)
{
    style plain = {single, false, false};
    style wide = {single, true, false};
    style open = {single, false, true};
    if (single && sizeof(double) < 8) {
        PRINT("skip");
        return;
    }
    size_t size = measure(value, plain);
    if (size == SIZE_MAX) {
        PRINT("skip");
        return;
    }
    if (measure(value, wide) != size || measure(value, open) != size) {
        PRINT("fault sizes differ");
        return;
    }
    if (!write_to_buffer(value, plain, out, size)) {
        PRINT("fault does not fit its size");
        return;
    }
    if (!write_to_buffer(value, open, second, size) || memcmp(out, second, size) != 0) {
        PRINT("fault open containers differ");
        return;
    }
    if (!write_to_sink(value, wide, 16, size)) {
        PRINT("fault in a sink");
        return;
    }
    if (!write_to_sink(value, open, OUT_SIZE, size)) {
        PRINT("fault of open containers in a sink");
        return;
    }
    PRINT("ok ");
    print_hex(out, size);
}

/* Writes to a buffer of `room` bytes, which is too small. Returns whether the writer reports that, and has written only the
 * beginning of the message. */
static bool reports_small_buffer(const char *value, style how, size_t room, size_t size)
{
    dn_writer w;
    memset(second, 0xee, size);
    dn_writer_init(&w, second, room);
    write_value(&w, value, how);
    if (w.error != DN_TRUNCATED || dn_write_error_offset(&w) != room || dn_written(&w) != size) return false;
    size_t written = how.open ? room : 0; /* open containers have no count yet */
    while (written < room && second[written] == out[written]) written++;
    for (; written < size; written++) {
        if (second[written] != 0xee) return false;
    }
    return true;
}

/* Returns whether the writer reports the error of a sink that accepts only `most` bytes. */
static bool reports_sink_failure(const char *value, style how, size_t chunk, size_t most, size_t size)
{
    comparison with = {0, most, true};
    dn_sink sink;
    dn_sink_init(&sink, second, chunk, compare, &with);
    write_value(&sink.writer, value, how);
    if (dn_sink_finish(&sink) || sink.writer.error != DN_TRUNCATED || !with.same) return false;
    return dn_write_error_offset(&sink.writer) == with.taken && dn_written(&sink.writer) == size;
}

void buffers(const char *value)
{
    style plain = {false, false, false};
    style wide = {false, true, false};
    style open = {false, false, true};
    size_t size = measure(value, plain);
    if (size == SIZE_MAX) {
        PRINT("skip");
        return;
    }
    if (!write_to_buffer(value, plain, out, size)) {
        PRINT("fault does not fit its size");
        return;
    }
    for (size_t room = 0; room < size; room += size / 1024 + 1) {
        const char *fault = NULL;
        if (!reports_small_buffer(value, plain, room, size)) fault = LITERAL("plain");
        else if (!reports_small_buffer(value, wide, room, size)) fault = LITERAL("wide");
        else if (!reports_small_buffer(value, open, room, size)) fault = LITERAL("open");
        else if (!reports_sink_failure(value, plain, 16, room, size)) fault = LITERAL("sink");
        else if (!reports_sink_failure(value, open, OUT_SIZE, room, size)) fault = LITERAL("sink with open containers");
        if (fault) {
            PRINT("fault ");
            print(fault);
            PRINT(" with room for ");
            print_unsigned(room);
            return;
        }
    }
    PRINT("ok");
}
