/* What the models share. */
#ifndef QUARRY_LIBRARY_H
#define QUARRY_LIBRARY_H

#define _GNU_SOURCE
#define __NO_CTYPE
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1 /* atol is atol, not a call of strtol */
#endif
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

/* The name of a model; the front end knows models by it. */
#define LIB(name) __quarry_lib_##name

/* Comparisons without a branch: one term in an expression, no place to turn. */
#define IN_RANGE(c, low, high) ((unsigned)(c) - (unsigned)(low) <= (unsigned)(high) - (unsigned)(low))

#endif
