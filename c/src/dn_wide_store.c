/* The store functions of 64-bit numbers, in a file of their own because of their cost on an
 * 8-bit target. */
#include "dn_bind.h"

void dn_store_u64(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(uint64_t *)to = dn_read_u64(r);
}

void dn_store_i64(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(int64_t *)to = dn_read_i64(r);
}

void dn_store_double(dn_reader *r, void *to, const dn_member *member)
{
    (void)member;
    *(double *)to = dn_read_double(r);
}
