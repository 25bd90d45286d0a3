/* What models ask of the runtime, for a program in which nothing is symbolic: one input file, read by the stream or
 * descriptor named here. */

struct __quarry_file __quarry_files[QUARRY_FILES];
unsigned __quarry_n_files;
struct __quarry_variable __quarry_variables[QUARRY_VARIABLES];
unsigned __quarry_n_variables;

static FILE *input_stream;
static int input_descriptor = -1;

int __quarry_file_of(FILE *stream)
{
    return stream == input_stream ? 0 : -1;
}

int __quarry_file_of_descriptor(int descriptor)
{
    return descriptor == input_descriptor ? 0 : -1;
}

void __quarry_forget_streams(void)
{
}

long long __quarry_position(FILE *stream)
{
    return ftello64(stream);
}

void __quarry_forget_position(FILE *stream)
{
    (void)stream;
}

int __quarry_is_at(int file, long long at, int c);

const struct __quarry_byte *__quarry_next_byte(FILE *stream)
{
    static struct __quarry_byte next;
    int file = __quarry_file_of(stream);
    long long at = file < 0 ? 0 : __quarry_position(stream);
    next = (struct __quarry_byte){.c = fgetc(stream), .file = -1, .at = at};
    if (file >= 0 && __quarry_is_at(file, at, next.c))
        next.file = file;
    return &next;
}

long long __quarry_descriptor_position(int descriptor)
{
    return lseek64(descriptor, 0, SEEK_CUR);
}

int __quarry_is_at(int file, long long at, int c)
{
    unsigned long long size = __quarry_files[file].size;
    return c == EOF ? (unsigned long long)at >= size
                    : (unsigned long long)at < size && __quarry_files[file].bytes[at] == c;
}

int __quarry_are_at(int file, long long at, void *bytes, size_t n)
{
    return !n || (at + n <= __quarry_files[file].size && !memcmp(__quarry_files[file].bytes + at, bytes, n));
}

unsigned long long __quarry_concrete_size(int file)
{
    return __quarry_files[file].size;
}

void __quarry_depends_on(int file, long long begin, long long end)
{
}

void __quarry_depends_on_size(int file)
{
}

int __quarry_push_back(const int *c, FILE *stream)
{
    return ungetc(*c, stream);
}

int __quarry_is_as_given(unsigned variable, const char *found)
{
    return 0;
}

const unsigned char *__quarry_allocation(void)
{
    return 0;
}
