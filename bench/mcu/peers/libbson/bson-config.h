/* The results that libbson's build would find for the target: little-endian, and a C library without an operating system. */
#ifndef BSON_CONFIG_H
#define BSON_CONFIG_H

#define BSON_BYTE_ORDER 1234
#define BSON_HAVE_STDBOOL_H 1
#define BSON_OS 1
#define BSON_HAVE_STRINGS_H 1
#define BSON_HAVE_STRNLEN 1
#define BSON_HAVE_SNPRINTF 1

#endif
