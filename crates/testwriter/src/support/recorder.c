/* Notes what a call changes and returns, on a descriptor of its own. */
#include <malloc.h>

#define QUARRY_RECORD 197
#define QUARRY_OBJECTS 1024

static struct {
    const char *start;
    size_t size;
    int freed;
} quarry_objects[QUARRY_OBJECTS];
static int quarry_n_objects;
static size_t quarry_in_use, quarry_freed;

void __real_free(void *memory);
void *__real_realloc(void *memory, size_t size);

static void quarry_forget(const void *memory)
{
    for (int i = 0; i < quarry_n_objects; i++)
        if (memory && quarry_objects[i].start == memory && !quarry_objects[i].freed) {
            quarry_objects[i].freed = 1;
            quarry_freed += quarry_objects[i].size + sizeof(size_t);
        }
}

void __wrap_free(void *memory)
{
    quarry_forget(memory);
    __real_free(memory);
}

void *__wrap_realloc(void *memory, size_t size)
{
    quarry_forget(memory);
    return __real_realloc(memory, size);
}

__attribute__((unused)) static void quarry_object(const void *start, size_t size)
{
    if (quarry_n_objects < QUARRY_OBJECTS) {
        quarry_objects[quarry_n_objects].start = start;
        quarry_objects[quarry_n_objects++].size = size;
    }
}

__attribute__((unused)) static int quarry_lives(int object)
{
    return object < quarry_n_objects && !quarry_objects[object].freed;
}

/* Bytes on the heap that are in use; 0 when the C library does not say. */
static size_t quarry_heap(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

__attribute__((unused)) static void quarry_before_call(void)
{
    quarry_in_use = quarry_heap();
}

/* Notes which objects the call freed, and whether memory that it allocated is still there. */
__attribute__((unused)) static void quarry_after_call(void)
{
    size_t in_use = quarry_heap();
    if (in_use == 0 || in_use + quarry_freed > quarry_in_use)
        dprintf(QUARRY_RECORD, "K\n");
    for (int i = 0; i < quarry_n_objects; i++)
        if (quarry_objects[i].freed)
            dprintf(QUARRY_RECORD, "F %d\n", i);
}

__attribute__((unused)) static void quarry_signed(int leaf, long long value)
{
    dprintf(QUARRY_RECORD, "%d i %lld\n", leaf, value);
}

__attribute__((unused)) static void quarry_unsigned(int leaf, unsigned long long value)
{
    dprintf(QUARRY_RECORD, "%d i %llu\n", leaf, value);
}

__attribute__((unused)) static void quarry_truth(int leaf, int value)
{
    dprintf(QUARRY_RECORD, "%d b %d\n", leaf, value != 0);
}

__attribute__((unused)) static void quarry_float(int leaf, float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    dprintf(QUARRY_RECORD, "%d f %x\n", leaf, bits);
}

__attribute__((unused)) static void quarry_double(int leaf, double value)
{
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    dprintf(QUARRY_RECORD, "%d f %llx\n", leaf, bits);
}

__attribute__((unused)) static int quarry_is_elsewhere(const void *value)
{
    const char *at = value;
    for (int i = 0; i < quarry_n_objects; i++)
        if (at >= quarry_objects[i].start && at <= quarry_objects[i].start + quarry_objects[i].size)
            return 0;
    return at != 0;
}

/* Null, a place within an object of the test, or somewhere else. */
__attribute__((unused)) static int quarry_pointer(int leaf, const void *value)
{
    const char *at = value;
    if (!at) {
        dprintf(QUARRY_RECORD, "%d n\n", leaf);
        return 0;
    }
    for (int i = 0; i < quarry_n_objects; i++)
        if (at >= quarry_objects[i].start && at <= quarry_objects[i].start + quarry_objects[i].size) {
            dprintf(QUARRY_RECORD, "%d o %d %lld\n", leaf, i, (long long)(at - quarry_objects[i].start));
            return 0;
        }
    dprintf(QUARRY_RECORD, "%d x\n", leaf);
    return 1;
}

__attribute__((unused)) static void quarry_text(int leaf, const void *value)
{
    const char *at = value;
    size_t length = 0;
    if (!quarry_pointer(leaf, value))
        return;
    while (length < QUARRY_TEXT && quarry_readable(at + length, 1) && at[length])
        length++;
    if (length == QUARRY_TEXT || !quarry_readable(at + length, 1))
        return;
    dprintf(QUARRY_RECORD, "%d t ", leaf);
    for (size_t i = 0; i < length; i++)
        dprintf(QUARRY_RECORD, "%02x", (unsigned char)at[i]);
    dprintf(QUARRY_RECORD, "\n");
}

__attribute__((unused)) static void quarry_phase(char phase)
{
    dprintf(QUARRY_RECORD, "%c\n", phase);
}

/* Fills the stack below as memory is filled, so that what is read from it without being set is not the same in both runs. */
__attribute__((noinline)) static void quarry_fill_stack(void)
{
    const char *filling = getenv("MALLOC_PERTURB_");
    volatile unsigned char room[1 << 15];
    for (unsigned i = 0; i < sizeof room; i++)
        room[i] = (unsigned char)(filling ? atoi(filling) : 0);
}
