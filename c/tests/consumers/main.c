/* A program that uses the library. */
#include <dn_pson.h>

int main(void)
{
    uint8_t buffer[16];
    dn_writer w;
    dn_writer_init(&w, buffer, sizeof buffer);
    dn_write_map(&w, 1);
    DN_WRITE_KEY(&w, "n");
    dn_write_uint(&w, 300);

    dn_reader r;
    uint16_t n = 0;
    dn_reader_init(&r, buffer, dn_written(&w));
    dn_read_map(&r);
    while (dn_read_key(&r)) {
        if (DN_KEY_IS(&r, "n")) n = dn_read_u16(&r);
        else dn_skip(&r);
    }
    return dn_done(&r) && n == 300 ? 0 : 1;
}
