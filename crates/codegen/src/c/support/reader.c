/* ---- Reader --------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *at; /* the byte behind `byte` */
    const uint8_t *end;
    uint8_t byte; /* its bits that were not read yet, 1 to 8, at the top; zeros below */
    uint8_t unit; /* 1 << the number of its bits that were read, 0 to 7 */
    uint8_t over; /* bytes behind the message that were looked at; 2 for more */
    uint8_t error;
    NAME_field field;
} reader;

static bool is_truncated(const reader *r) { return r->over > 1 || (r->over && r->unit > 1); }

/* What is wrong where bits are missing is that they are missing. */
static void reject(reader *r, uint8_t error, NAME_field field)
{
    if (r->error) return;
    r->error = is_truncated(r) ? (uint8_t)PREFIX_TRUNCATED : error;
    r->field = field;
}

/* The next byte; zeros behind the message. */
static uint8_t next(reader *r)
{
    if (r->at != r->end) return *r->at++;
    if (r->over < 2) r->over++;
    return 0;
}

