/* The store functions of 64-bit numbers: apart, because an 8-bit target pays for them. */
#include "dn_bind.h"

void dn_store_u64(dn_reader *r, void *member, const dn_field *field)
{
    (void)field;
    *(uint64_t *)member = dn_read_u64(r);
}

void dn_store_i64(dn_reader *r, void *member, const dn_field *field)
{
    (void)field;
    *(int64_t *)member = dn_read_i64(r);
}

void dn_store_double(dn_reader *r, void *member, const dn_field *field)
{
    (void)field;
    *(double *)member = dn_read_double(r);
}
