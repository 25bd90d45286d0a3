/* Notes what a function is called with, on a descriptor of its own. AddressSanitizer knows how far objects reach. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define QUARRY_RECORD 197
#define QUARRY_LARGEST 4096
#define QUARRY_KNOWN 1024
#define QUARRY_FRAMES 8

/* What a pointer is. */
enum { QUARRY_NULL, QUARRY_OWN, QUARRY_SHARED, QUARRY_DEEP, QUARRY_NOWHERE, QUARRY_INSIDE };

void *__asan_region_is_poisoned(void *start, size_t size);

/* The objects of a call, in the order in which they were noted. */
static struct {
    const char *start;
    size_t size;
    int target;
} quarry_known[QUARRY_KNOWN];
static int quarry_n_known;
static char quarry_notes[1 << 16];
static size_t quarry_n_notes;

static void quarry_flush(void)
{
    for (size_t at = 0; at < quarry_n_notes;) {
        ssize_t written = write(QUARRY_RECORD, quarry_notes + at, quarry_n_notes - at);
        if (written <= 0)
            break;
        at += written;
    }
    quarry_n_notes = 0;
}

__attribute__((unused)) static void quarry_put(unsigned long long number)
{
    if (quarry_n_notes + 24 > sizeof quarry_notes)
        quarry_flush();
    quarry_n_notes += snprintf(quarry_notes + quarry_n_notes, 24, "%llx ", number);
}

__attribute__((unused)) static void quarry_put_float(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    quarry_put(bits);
}

__attribute__((unused)) static void quarry_put_double(double value)
{
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    quarry_put(bits);
}

/* Bytes that the program may access from an address on, as far as anyone asks. */
static size_t quarry_extent(const void *start, size_t most)
{
    if (!start || !quarry_readable(start, 1))
        return 0;
    const char *end = __asan_region_is_poisoned((void *)start, most);
    size_t n = end ? (size_t)(end - (const char *)start) : most;
    while (n > 0 && !quarry_readable(start, n)) /* memory that the sanitizer does not know may end earlier */
        n /= 2;
    return n;
}

/* Elements of an array of varying size; one more than is ever built says that there are too many. */
__attribute__((unused)) static size_t quarry_elements(const void *start, size_t size)
{
    return size == 0 ? 0 : quarry_extent(start, size * (QUARRY_LARGEST + 2)) / size;
}

/* Elements before a zero element at the end: of a constant text the first, of a buffer the last one. */
__attribute__((unused)) static size_t quarry_ended(const void *start, size_t size, int is_text)
{
    const char *bytes = start;
    static const char zero[sizeof(long long)];
    size_t n = quarry_elements(start, size);
    /* what is larger than anything that is built is no buffer of the test's */
    if (is_text || n > QUARRY_LARGEST) {
        for (size_t at = 0; at < n; at++)
            if (memcmp(bytes + at * size, zero, size) == 0)
                return at;
        return n;
    }
    return n > 0 && memcmp(bytes + (n - 1) * size, zero, size) == 0 ? n - 1 : n;
}

/* Notes what a pointer is; whether it is the first one to this object, whose contents come next. */
__attribute__((unused)) static int quarry_is_new(const void *start, int target, size_t size, unsigned depth, unsigned most)
{
    const char *at = start;
    if (!start)
        return quarry_put(QUARRY_NULL), 0;
    if (depth >= most)
        return quarry_put(QUARRY_DEEP), 0;
    for (int i = 0; i < quarry_n_known; i++)
        if (quarry_known[i].target == target && at >= quarry_known[i].start
            && at <= quarry_known[i].start + quarry_known[i].size) {
            quarry_put(at == quarry_known[i].start ? QUARRY_SHARED : QUARRY_INSIDE);
            quarry_put(i);
            return 0;
        }
    size_t extent = quarry_extent(start, size * (QUARRY_LARGEST + 2));
    if (extent < size || quarry_n_known == QUARRY_KNOWN)
        return quarry_put(QUARRY_NOWHERE), 0;
    quarry_known[quarry_n_known].start = start;
    quarry_known[quarry_n_known].size = extent;
    quarry_known[quarry_n_known++].target = target;
    quarry_put(QUARRY_OWN);
    return 1;
}

__attribute__((unused)) static void quarry_put_stream(FILE *stream)
{
    long at = stream ? ftell(stream) : -1;
    if (at < 0)
        return quarry_put(QUARRY_NULL);
    quarry_put(QUARRY_OWN);
    static unsigned char bytes[QUARRY_LARGEST + 1];
    size_t n = fread(bytes, 1, sizeof bytes, stream);
    clearerr(stream);
    fseek(stream, at, SEEK_SET);
    quarry_put(n);
    for (size_t i = 0; i < n; i++)
        quarry_put(bytes[i]);
}

/* Begins a call: where it returns to, and where its callers do, by their frames. */
static void quarry_begin(void *const *frame)
{
    quarry_n_known = 0;
    quarry_n_notes += snprintf(quarry_notes + quarry_n_notes, 4, "C ");
    for (int n = 0; n < QUARRY_FRAMES && quarry_readable(frame, 2 * sizeof *frame); n++) {
        quarry_put((size_t)frame[1]);
        if ((void *const *)frame[0] <= frame)
            break;
        frame = frame[0];
    }
    quarry_n_notes += snprintf(quarry_notes + quarry_n_notes, 4, "; ");
}

static void quarry_end(void)
{
    if (quarry_n_notes + 4 > sizeof quarry_notes)
        quarry_flush();
    quarry_n_notes += snprintf(quarry_notes + quarry_n_notes, 4, "E\n");
    quarry_flush();
}
