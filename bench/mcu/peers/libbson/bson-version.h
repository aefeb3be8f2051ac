/* The version of libbson, which its build would write here. */
#ifndef BSON_VERSION_H
#define BSON_VERSION_H

#define BSON_MAJOR_VERSION 1
#define BSON_MINOR_VERSION 23
#define BSON_MICRO_VERSION 1
#define BSON_VERSION_S "1.23.1"

#endif
