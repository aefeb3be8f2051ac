/* ---- Writer ------------------------------------------------------------------------------------------------------------------
 * Shifts are multiplications by a power of two: that is one instruction of 8-bit machines, which cannot shift by a variable. */

typedef struct {
    uint8_t *at; /* where `byte` goes */
    uint8_t *end;
    uint8_t byte; /* is being filled, from its highest bit down */
    uint8_t unit; /* 1 << the number of its bits that are free, 0 to 7 */
    uint8_t error;
    NAME_field field;
} writer;

static void refuse(writer *w, uint8_t error, NAME_field field)
{
    if (w->error) return;
    w->error = error;
    w->field = field;
}

