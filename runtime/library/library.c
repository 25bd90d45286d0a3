/* Models of C library functions, as one translation unit.
 *
 * A model is ordinary C that does what the library's function does; it becomes part of the program like the user's own
 * code, so values are followed through it and the search can flip its branches. The linker determines which functions a
 * program needs; the others cost nothing. A model calls other models by their names here; a plain name is the library's
 * own function. The "C" locale is assumed. */
#include "library.h"

#include "ctype.c"
#include "environment.c"
#include "strings.c"
#include "search.c"
#include "numbers.c"
#include "floats.c"
#include "streams.c"
#include "scan.c"
#include "print.c"
#include "options.c"
#include "sorting.c"
#include "terms.c"
