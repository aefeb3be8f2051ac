/* How the measured code calls nanopb: the functions are generated. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "measure.h"

#include <pb_decode.h>
#include <pb_encode.h>

#endif
