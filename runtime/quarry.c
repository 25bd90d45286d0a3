/* The runtime as one translation unit, so that its state is private and its hot paths inline. */
#include "quarry.h"

#include "log.c"
#include "nodes.c"
#include "arithmetic.c"
#include "floats.c"
#include "memory.c"
#include "strings.c"
#include "calls.c"
#include "input.c"
#include "objects.c"
#include "sandbox.c"
#include "server.c"
