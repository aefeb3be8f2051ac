/* A program for each row of the README's table of files, with every function that the row is about. ROW selects one by its number; 0 selects
 * all. files.sh links each with the files of its row alone. */
#include <stdint.h> /* before the library's headers, and without the macros that C++98 has to ask for */

#include <dn_bind.h>
#include <dn_json.h>

#if ROW == 0 || ROW == 1 /* write */
size_t row_write(uint8_t *buffer, size_t size)
{
    dn_writer w;
    dn_writer_init(&w, buffer, size);
    dn_write_map(&w, 2);
    DN_WRITE_KEY(&w, "key");
    dn_write_array(&w, 8);
    dn_write_uint(&w, 4000000000u);
    dn_write_int(&w, -1);
    dn_write_float(&w, 0.5f);
    dn_write_bool(&w, true);
    dn_write_null(&w);
    dn_write_text(&w, "text", 4);
    dn_write_str(&w, "text");
    dn_write_bytes(&w, buffer, 1);
    DN_WRITE_KEY(&w, "a key that has more than 30 bytes");
    dn_write_null(&w);
    return w.error ? dn_write_error_offset(&w) : dn_written(&w);
}
#endif

#if ROW == 0 || ROW == 2 /* write 64 bits, or a `double` */
void row_write_wide(dn_writer *w)
{
    dn_write_u64(w, (uint64_t)1 << 63);
    dn_write_i64(w, -((int64_t)1 << 62));
    dn_write_double(w, 31.42);
}
#endif

#if ROW == 0 || ROW == 3 /* write through a sink, or containers of an unknown size */
bool row_sink(uint8_t *chunk, size_t size, dn_sink_fn take)
{
    dn_sink sink;
    size_t opened;
    dn_sink_init(&sink, chunk, size, take, NULL);
    opened = dn_write_map_open(&sink.writer);
    dn_write_close(&sink.writer, opened, 0);
    opened = dn_write_array_open(&sink.writer);
    dn_write_close(&sink.writer, opened, 0);
    return dn_sink_finish(&sink);
}
#endif

#if ROW == 0 || ROW == 4 /* read */
size_t row_read(const uint8_t *message, size_t size, char *text, float *number)
{
    dn_reader r;
    dn_reader_init(&r, message, size);
    dn_read_map(&r);
    while (dn_read_key(&r)) {
        if (DN_KEY_IS(&r, "float")) *number = dn_expect(&r, DN_FLOAT) ? dn_float(&r) : 0;
        else if (DN_KEY_IS(&r, "text")) *text = (char)(dn_read_text(&r) && dn_copy_text(&r, text, 2));
        else if (DN_KEY_IS(&r, "bytes")) *text = dn_read_bytes(&r) && r.n ? *dn_chars(&r) : '-';
        else if (DN_KEY_IS(&r, "null")) dn_read_null(&r);
        else if (DN_KEY_IS(&r, "bools"))
            for (dn_read_array(&r); dn_more(&r);) *text = (char)(dn_read_bool(&r) ? '1' : '0');
        else if (dn_next(&r) == DN_BOOL) *text = (char)(dn_get_bool(&r) ? '1' : '0');
    }
    return dn_done(&r) ? size : dn_error_offset(&r);
}
#endif

#if ROW == 0 || ROW == 5 /* read, and convert numbers of up to 32 bits */
float row_convert(const uint8_t *message, size_t size)
{
    dn_reader r;
    uint32_t sum;
    dn_reader_init(&r, message, size);
    dn_next(&r);
    sum = dn_get_uint(&r, 9) + (uint32_t)dn_get_int(&r, -9, 9);
    sum += (uint32_t)dn_read_u8(&r) + dn_read_u16(&r) + dn_read_u32(&r) + dn_read_uint(&r, 9);
    sum += (uint32_t)dn_read_i8(&r) + (uint32_t)dn_read_i16(&r) + (uint32_t)dn_read_i32(&r) + (uint32_t)dn_read_int(&r, -9, 9);
    return dn_get_float(&r) + dn_read_float(&r) + (float)(sum & 1);
}
#endif

#if ROW == 0 || ROW == 6 /* read 64 bits, or a `double` */
double row_read_wide(const uint8_t *message, size_t size)
{
    dn_reader r;
    uint64_t sum;
    dn_reader_init(&r, message, size);
    dn_next(&r);
    sum = dn_get_u64(&r) + (uint64_t)dn_get_i64(&r) + dn_read_u64(&r) + (uint64_t)dn_read_i64(&r);
    return dn_get_double(&r) + dn_read_double(&r) + (sum & 1 ? 1 : 0);
}
#endif

#if ROW == 0 || ROW == 7 /* skip, find */
bool row_find(const uint8_t *message, size_t size)
{
    dn_reader r;
    dn_mark map;
    dn_reader_init(&r, message, size);
    dn_read_map(&r);
    map = dn_mark_here(&r);
    if (dn_find(&r, &map, "key", 3)) dn_skip(&r);
    dn_leave(&r);
    return dn_done(&r);
}
#endif

#if ROW == 0 || ROW == 8 /* read strictly */
bool row_strict(const uint8_t *message, size_t size)
{
    dn_reader r;
    dn_reader_init(&r, message, size);
    dn_reader_strict(&r);
    while (dn_next(&r)) {}
    return dn_done(&r);
}
#endif

#if ROW == 0 || ROW == 9 /* check a message */
size_t row_check(const uint8_t *message, size_t size)
{
    dn_fault fault = dn_check(message, size, true);
    return fault.kind ? fault.offset : DN_MESSAGE_MAX;
}
#endif

#if ROW == 0 || ROW == 10 /* check text */
bool row_text(const char *text, size_t size) { return dn_is_utf8(text, size); }
#endif

#if ROW == 0 || ROW == 11 /* bind */
typedef struct {
    uint32_t present;
    int8_t x;
} inner;

typedef struct {
    uint32_t present;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    float single;
    bool flag;
    char name[8];
    dn_view text;
    dn_view bytes;
    inner one;
    float floats[4];
    uint16_t floats_count;
    inner many[2];
    uint16_t many_count;
    uint8_t own;
} outer;

static void store_own(dn_reader *r, void *to, const dn_member *member)
{
    dn_skip(r);
    *(uint8_t *)to = (uint8_t)dn_member_size(member);
}

DN_TABLE(inner_table, inner, present, DN_FIELD(x, "x", i8));
DN_TABLE_DECLARE(outer_table, outer);
DN_TABLE_SHARED(outer_table, outer, present,
    DN_FIELD(u8, "u8", u8),
    DN_FIELD(u16, "u16", u16),
    DN_FIELD(u32, "u32", u32),
    DN_FIELD(i8, "i8", i8),
    DN_FIELD(i16, "i16", i16),
    DN_FIELD(i32, "i32", i32),
    DN_FIELD(single, "single", float),
    DN_FIELD(flag, "flag", bool),
    DN_FIELD(name, "name", chars),
    DN_FIELD(text, "text", text),
    DN_FIELD(bytes, "bytes", bytes),
    DN_FIELD_STRUCT(one, "one", inner_table),
    DN_FIELD_ARRAY(floats, floats_count, "floats", float),
    DN_FIELD_STRUCTS(many, many_count, "many", inner_table),
    DN_FIELD_BY(own, "own", store_own));

bool row_bind(const uint8_t *message, size_t size, outer *out)
{
    dn_reader r;
    if (!dn_bind(&r, message, size, &outer_table, out) || !(out->present & DN_BIT(1))) return false;
    dn_reader_init(&r, message, size);
    return dn_read_struct(&r, &outer_table, out);
}
#endif

#if ROW == 0 || ROW == 12 /* bind 64 bits */
typedef struct {
    uint32_t present;
    uint64_t u64;
    int64_t i64;
    double binary64;
} wide;

DN_TABLE(wide_table, wide, present,
    DN_FIELD(u64, "u64", u64),
    DN_FIELD(i64, "i64", i64),
    DN_FIELD(binary64, "double", double));

bool row_bind_wide(const uint8_t *message, size_t size, wide *out)
{
    dn_reader r;
    return dn_bind(&r, message, size, &wide_table, out);
}
#endif

#if ROW == 0 || ROW == 13 /* print JSON */
bool row_print_json(const uint8_t *message, size_t size, dn_sink_fn take)
{
    dn_reader r;
    dn_reader_init(&r, message, size);
    return dn_json_write(&r, take, NULL) && dn_done(&r);
}
#endif

#if ROW == 0 || ROW == 14 /* parse JSON */
size_t row_parse_json(const char *text, size_t size, uint8_t *buffer, size_t room)
{
    dn_writer w;
    dn_json_reader j;
    dn_writer_init(&w, buffer, room);
    dn_json_reader_init(&j, &w);
    dn_json_read(&j, text, size);
    return dn_json_finish(&j) ? dn_written(&w) : (size_t)j.offset;
}
#endif

#if ROW == 0 || ROW == 15 /* print an error */
dn_flash_text row_error(dn_error kind) { return kind == DN_LIMIT ? dn_error_name(kind) : dn_error_text(kind); }
#endif

int main(void) { return 0; }
