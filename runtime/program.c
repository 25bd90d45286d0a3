/* The inputs of a whole program: arguments, standard input, files, environment, failing allocations.
 *
 * Everything is created for real before the program starts (strings, files with their bytes, an environment), so that
 * code without a model finds it as well; the shadow holds the expressions. The number of arguments, the size of a file
 * and whether it exists are cells of their own, and everything that depends on them is an expression: the search makes
 * them grow by flipping the program's conditions on them. */

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "program.h"

struct __quarry_file __quarry_files[QUARRY_FILES];
unsigned __quarry_n_files;
struct __quarry_variable __quarry_variables[QUARRY_VARIABLES];
unsigned __quarry_n_variables;

/* A system call of the set-up, which a process that runs again and again lets through: the next run's set-up undoes it. */
#define Q_SET_UP(number, a, b, c, d, e) q_own_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

static void *q_pages(size_t bytes)
{
    void *pages = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? 0 : pages;
}

/* A number from 0 to `most` as a cell: of as few bits as hold it, and what lies beyond is `most`. */
static struct q_term q_count_cell(uint64_t key, uint64_t most, unsigned width)
{
    unsigned bits = 1;
    while (bits < width && most >> bits)
        bits++;
    const struct q_input *input = q_find_input(key);
    uint64_t value = input ? input->value & q_mask(bits) : 0;
    struct q_term count = q_term(q_record_cell(key, value, bits, Q_CELL_COUNT, (unsigned)most), bits, value);
    if (most < q_mask(bits))
        count = q_pick(q_with(Q_ULE, count, most), count, q_term(0, bits, most));
    return q_extended(Q_ZEXT, count, width);
}

static void q_put(void *memory, unsigned bytes, struct q_term term)
{
    for (unsigned i = 0; i < bytes; i++)
        ((uint8_t *)memory)[i] = (uint8_t)(term.value >> 8 * i);
    if (term.node)
        q_set_bytes((uintptr_t)memory, bytes, term.node, term.value);
}

/* Characters by which a text may grow from one run to the next: more cells would make every term over the text larger. */
#define Q_TEXT_ROOM 16u

/* Characters that are cells of their own, some zeros behind the text among them, and a zero behind them. */
static void q_fill_text(uint64_t key, char *text, unsigned length)
{
    unsigned n_zeros = 0;
    for (unsigned i = 0; i < length && n_zeros < Q_TEXT_ROOM; i++) {
        __quarry_cell(__quarry_part_key(key, i), text + i, 1, 8);
        n_zeros += !text[i];
    }
}

static void q_write_file(int descriptor, const uint8_t *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        long now = Q_SET_UP(SYS_write, descriptor, bytes + done, n - done, 0, 0);
        if (now != -EINTR && now <= 0)
            break;
        done += now > 0 ? (size_t)now : 0;
    }
    Q_SET_UP(SYS_lseek, descriptor, 0, SEEK_SET, 0, 0);
}

static uint64_t q_identity(int descriptor)
{
    struct statx status = {0};
    if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_INO, &status) != 0)
        return 0;
    return status.stx_ino ^ (uint64_t)status.stx_dev_major << 52 ^ (uint64_t)status.stx_dev_minor << 40;
}

/* Opens a file for writing, in directories that are made on the way. */
static int q_create(const char *name)
{
    char path[4096];
    for (size_t i = 0; name[i] && i + 1 < sizeof path; i++) {
        path[i] = name[i];
        path[i + 1] = 0;
        if (i && name[i + 1] == '/') {
            Q_SET_UP(SYS_mkdirat, AT_FDCWD, path, 0755, 0, 0);
        }
    }
    return (int)Q_SET_UP(SYS_openat, AT_FDCWD, name, O_CREAT | O_TRUNC | O_RDWR, 0644, 0);
}

/* An input file of at most `most` bytes. Keys: `key` is its size, its byte i the object that is part i of it; `key` + 1 says
 * that it is not there. Standard input, which has no name, always is. */
void __quarry_input_file(unsigned long long key, const char *name, unsigned long long most)
{
    if (__quarry_n_files == QUARRY_FILES)
        return;
    struct __quarry_file *file = &__quarry_files[__quarry_n_files++];
    *file = (struct __quarry_file){.name = name, .bytes = q_pages((size_t)most + 1)};
    struct q_term is_missing = name ? q_count_cell(key + 1, 1, 8) : q_term(0, 8, 0), size = q_count_cell(key, most, 64);
    q_put(&file->is_there, 1, q_with(Q_XOR, is_missing, 1));
    q_put(&file->size, sizeof file->size, size);
    for (uint64_t i = 0; i < size.value; i++)
        __quarry_cell(__quarry_part_key(__quarry_part_key(key, i), 0), file->bytes + i, 1, 8);
    if (is_missing.value) {
        Q_SET_UP(SYS_unlinkat, AT_FDCWD, name, 0, 0, 0); /* of an earlier run of this process */
        return;
    }
    int descriptor = name ? q_create(name) : (int)Q_SET_UP(SYS_memfd_create, "stdin", 0, 0, 0, 0);
    q_write_file(descriptor, file->bytes, (size_t)size.value);
    file->identity = q_identity(descriptor);
    if (!name)
        Q_SET_UP(SYS_dup2, descriptor, 0, 0, 0, 0);
    if (descriptor > 0)
        Q_SET_UP(SYS_close, descriptor, 0, 0, 0, 0);
}

extern char **environ;

static int q_is_variable(const char *entry, const char *name)
{
    while (*name && *entry == *name)
        entry++, name++;
    return !*name && *entry == '=';
}

/* The environment without the variable, and with room for it. */
static char **q_environment_without(const char *name, char ***end)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **entries = q_pages((n + 2) * sizeof *entries);
    for (size_t i = 0; i < n; i++)
        if (!q_is_variable(environ[i], name))
            entries[kept++] = environ[i];
    *end = entries + kept;
    return entries;
}

/* argv: the program's name, then as many arguments as the cell `key` says, each of at most `length` characters. An argument
 * that is not there is a null pointer, and that it is not there is an expression. */
char **__quarry_arguments(unsigned long long key, const char *program, unsigned most, unsigned length, int *argc)
{
    const unsigned width = 8 * sizeof(char *);
    char **end, **argv = q_pages((most + 2) * sizeof *argv), *texts = q_pages((size_t)most * (length + 1) + 1);
    struct q_term count = q_count_cell(key, most, 32);
    q_put(argc, sizeof *argc, q_with(Q_ADD, count, 1));
    argv[0] = (char *)program;
    environ = q_environment_without("QUARRY_SERVER", &end);
    for (unsigned i = 0; i < most; i++) {
        char *text = texts + (size_t)i * (length + 1);
        struct q_term is_there = q_apply(Q_ULT, q_term(0, 32, i), count);
        if (is_there.value)
            q_fill_text(__quarry_part_key(key, i), text, length);
        q_put(&argv[i + 1], sizeof *argv, q_pick(is_there, q_term(0, width, (uintptr_t)text), q_term(0, width, 0)));
    }
    return argv;
}

/* A variable of the environment. Keys: `key` says that it is set, parts of it are the characters of its value. */
void __quarry_input_variable(unsigned long long key, const char *name, unsigned length)
{
    if (__quarry_n_variables == QUARRY_VARIABLES)
        return;
    size_t n = 0;
    while (name[n])
        n++;
    char *entry = q_pages(n + length + 2), **end;
    struct __quarry_variable *variable = &__quarry_variables[__quarry_n_variables++];
    struct q_term is_set = q_count_cell(key, 1, 8);
    *variable = (struct __quarry_variable){.name = name, .value = entry + n + 1};
    q_put(&variable->is_set, 1, is_set);
    for (size_t i = 0; i < n; i++)
        entry[i] = name[i];
    entry[n] = '=';
    environ = q_environment_without(name, &end);
    if (is_set.value) {
        q_fill_text(key, entry + n + 1, length);
        *end = entry;
    }
}

char **__quarry_environment(void)
{
    return environ;
}

int __quarry_is_as_given(unsigned variable, const char *found)
{
    const struct __quarry_variable *given = &__quarry_variables[variable];
    return given->is_set ? found == given->value : !found;
}

/* What streams were found to read, by address; forgotten whenever one is opened or closed. */
#define Q_KNOWN_STREAMS 64u
struct q_known_stream {
    const void *stream;
    int file;
    const char *buffer_end; /* of what the library has read ahead, if it is known */
    long long end_position; /* and where in the file that is */
};
static struct q_known_stream q_known_streams[Q_KNOWN_STREAMS];

static struct q_known_stream *q_known_stream(const FILE *stream)
{
    return &q_known_streams[(unsigned)((uintptr_t)stream >> 4) % Q_KNOWN_STREAMS];
}

void __quarry_forget_streams(void)
{
    for (unsigned i = 0; i < Q_KNOWN_STREAMS; i++)
        q_known_streams[i].stream = 0;
}

void __quarry_forget_position(FILE *stream)
{
    q_known_stream(stream)->buffer_end = 0;
}

int __quarry_file_of_descriptor(int descriptor)
{
    uint64_t identity = __quarry_n_files ? q_identity(descriptor) : 0;
    for (unsigned i = 0; identity && i < __quarry_n_files; i++)
        if (__quarry_files[i].identity == identity)
            return (int)i;
    return -1;
}

int __quarry_file_of(FILE *stream)
{
    if (!__quarry_n_files)
        return -1;
    struct q_known_stream *known = q_known_stream(stream);
    if (known->stream != stream)
        *known = (struct q_known_stream){.stream = stream, .file = __quarry_file_of_descriptor(fileno(stream))};
    return known->file;
}

/* glibc's: the buffer holds what was pushed back, or what is to be written. */
#define Q_OTHER_BUFFER (0x100 | 0x800)

/* Whether the position follows from that of the buffer's end. When the buffer is used up it does not: the next one may end at the
 * same address. */
static int q_reads_ahead(const FILE *stream)
{
    return !(stream->_flags & Q_OTHER_BUFFER) && stream->_IO_read_ptr < stream->_IO_read_end;
}

/* ftello asks the kernel each time, which costs more than all else that is done for a character. */
long long __quarry_position(FILE *stream)
{
    struct q_known_stream *known = q_known_stream(stream);
    int is_known = known->stream == stream, reads_ahead = q_reads_ahead(stream);
    if (is_known && reads_ahead && known->buffer_end == stream->_IO_read_end)
        return known->end_position - (stream->_IO_read_end - stream->_IO_read_ptr);
    int before = errno;
    long long at = ftello64(stream);
    errno = before;
    if (is_known) {
        known->buffer_end = reads_ahead && at >= 0 ? stream->_IO_read_end : 0;
        known->end_position = at + (stream->_IO_read_end - stream->_IO_read_ptr);
    }
    return at;
}

const struct __quarry_byte *__quarry_next_byte(FILE *stream)
{
    static struct __quarry_byte next;
    int file = __quarry_file_of(stream);
    long long at = file < 0 ? 0 : __quarry_position(stream);
    next = (struct __quarry_byte){.c = fgetc(stream), .file = -1, .at = at};
    if (file < 0 || !__quarry_is_at(file, at, next.c))
        return &next;
    const struct __quarry_file *input = &__quarry_files[file];
    unsigned long long place = (unsigned long long)at;
    next.file = file;
    next.is_known = !input->is_at_end && (place < input->n_known || (input->is_end_known && place >= input->size));
    return &next;
}

long long __quarry_descriptor_position(int descriptor)
{
    int before = errno;
    long long at = lseek64(descriptor, 0, SEEK_CUR);
    errno = before;
    return at;
}

int __quarry_is_at(int number, long long at, int c)
{
    const struct __quarry_file *file = &__quarry_files[number];
    if (at < 0 || c == EOF)
        return c == EOF && at >= 0 && (uint64_t)at >= file->size;
    return (uint64_t)at < file->size && file->bytes[at] == c;
}

int __quarry_are_at(int number, long long at, void *bytes, size_t n)
{
    const struct __quarry_file *file = &__quarry_files[number];
    __quarry_clear((uintptr_t)bytes, n);
    if (at < 0 || (n && (uint64_t)at + n > file->size))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (file->bytes[(size_t)at + i] != ((uint8_t *)bytes)[i])
            return 0;
    __quarry_copy((uintptr_t)bytes, (uintptr_t)file->bytes + (size_t)at, n);
    return 1;
}

unsigned long long __quarry_concrete_size(int number)
{
    return __quarry_files[number].size;
}

void __quarry_depends_on_size(int number)
{
    uint64_t *size = (uint64_t *)&__quarry_files[number].size;
    __quarry_pin_bytes((uintptr_t)size, sizeof *size);
}

void __quarry_depends_on(int number, long long begin, long long end)
{
    const struct __quarry_file *file = &__quarry_files[number];
    if (begin < 0 || end < begin)
        return;
    if ((uint64_t)end >= file->size) {
        end = (long long)file->size;
        __quarry_depends_on_size(number);
    }
    for (; begin < end; begin++)
        __quarry_pin_bytes((uintptr_t)(file->bytes + begin), 1);
}

int __quarry_push_back(const int *c, FILE *stream)
{
    return ungetc(*c, stream);
}

/* Choices for the first `q_n_choices` allocations, made when they are asked for. */
static uint64_t q_allocation_key;
static unsigned q_n_choices, q_n_allocations;
static uint8_t *q_choices;

/* From now on allocations may fail: the one with number i when the part i of `key` says so. */
void __quarry_fail_allocations(unsigned long long key, unsigned most)
{
    q_allocation_key = key;
    q_n_choices = most;
    q_n_allocations = 0;
    q_choices = q_pages(most + 1);
}

const unsigned char *__quarry_allocation(void)
{
    if (q_n_allocations >= q_n_choices)
        return 0;
    unsigned number = q_n_allocations++;
    __quarry_cell(__quarry_part_key(q_allocation_key, number), q_choices + number, 1, 1);
    return q_choices + number;
}
