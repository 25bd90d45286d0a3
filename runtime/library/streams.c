/* Streams, descriptors and files: the library's own functions do the work, and expressions are attached to what they
 * deliver from an input file. The end of the file is a condition on its size, so that the search can make it longer or
 * shorter.
 *
 * Block reads (fread, read) have no branch: the number of bytes read is one term over the size. */

/* The input file that a stream reads, -1 when it is none. A place at the end of it must not depend on the size any more. */
static int LIB(open_file)(FILE *stream)
{
    int file = __quarry_file_of(stream);
    if (file >= 0 && __quarry_files[file].is_at_end) {
        __quarry_files[file].is_at_end = 0;
        __quarry_depends_on_size(file);
    }
    return file;
}

/* As few branches as can be: each is logged and walked for every character that is read. */
int LIB(fgetc)(FILE *stream)
{
    const struct __quarry_byte *next = __quarry_next_byte(stream);
    if (next->is_known)
        return next->c == EOF ? EOF : __quarry_files[next->file].bytes[next->at];
    if (next->file < 0)
        return next->c; /* no input, pushed back by the program, or an error */
    struct __quarry_file *input = &__quarry_files[next->file];
    if (input->is_at_end) {
        input->is_at_end = 0;
        __quarry_depends_on_size(next->file);
    }
    if ((unsigned long long)next->at >= input->size) {
        input->is_end_known = (unsigned long long)next->at == input->n_known;
        return EOF;
    }
    if ((unsigned long long)next->at >= input->n_known)
        input->n_known = (unsigned long long)next->at + 1;
    return input->bytes[next->at];
}

int LIB(getc)(FILE *stream)
{
    return LIB(fgetc)(stream);
}

int LIB(_IO_getc)(FILE *stream)
{
    return LIB(fgetc)(stream);
}

int LIB(getc_unlocked)(FILE *stream)
{
    return LIB(fgetc)(stream);
}

int LIB(fgetc_unlocked)(FILE *stream)
{
    return LIB(fgetc)(stream);
}

int LIB(getchar)(void)
{
    return LIB(fgetc)(stdin);
}

int LIB(getchar_unlocked)(void)
{
    return LIB(fgetc)(stdin);
}

/* A character that the file has at that place comes back from there. Another one comes back as it is. */
int LIB(ungetc)(int c, FILE *stream)
{
    int file = LIB(open_file)(stream);
    if (file < 0 || c == EOF)
        return ungetc(c, stream);
    long long at = __quarry_position(stream) - 1;
    int pushed = __quarry_push_back(&c, stream);
    if (pushed == EOF)
        return EOF;
    if (__quarry_is_at(file, at, pushed) && (unsigned char)c == __quarry_files[file].bytes[at])
        return (unsigned char)c;
    return pushed;
}

char *LIB(fgets)(char *to, int n, FILE *stream)
{
    if (LIB(open_file)(stream) < 0)
        return fgets(to, n, stream);
    if (n <= 0)
        return 0;
    int c = 0, used = 0;
    while (used < n - 1) {
        c = LIB(fgetc)(stream);
        if (c == EOF)
            break;
        to[used++] = (char)c;
        if (c == '\n')
            break;
    }
    if (used == 0 && c == EOF)
        return 0;
    to[used] = 0;
    return to;
}

char *LIB(fgets_unlocked)(char *to, int n, FILE *stream)
{
    return LIB(fgets)(to, n, stream);
}

char *LIB(__fgets_chk)(char *to, size_t room, int n, FILE *stream)
{
    if (n > 0 && (size_t)n > room)
        abort();
    return LIB(fgets)(to, n, stream);
}

/* Room for one more byte and the zero behind it; 0 when there is none. */
static int LIB(make_room)(char **line, size_t *room, size_t used)
{
    if (*line && used + 2 <= *room)
        return 1;
    size_t wanted = !*line || *room < 60 ? 120 : 2 * *room;
    char *grown = realloc(*line, wanted);
    if (!grown)
        return 0;
    *line = grown;
    *room = wanted;
    return 1;
}

ssize_t LIB(getdelim)(char **line, size_t *room, int delimiter, FILE *stream)
{
    if (!line || !room || LIB(open_file)(stream) < 0)
        return getdelim(line, room, delimiter, stream);
    size_t used = 0;
    for (;;) {
        int c = LIB(fgetc)(stream);
        if (c == EOF)
            break;
        if (!LIB(make_room)(line, room, used))
            return -1;
        (*line)[used++] = (char)c;
        if (c == delimiter)
            break;
    }
    if (used == 0)
        return -1;
    (*line)[used] = 0;
    return (ssize_t)used;
}

ssize_t LIB(__getdelim)(char **line, size_t *room, int delimiter, FILE *stream)
{
    return LIB(getdelim)(line, room, delimiter, stream);
}

ssize_t LIB(getline)(char **line, size_t *room, FILE *stream)
{
    return LIB(getdelim)(line, room, '\n', stream);
}

/* How much a read of `wanted` bytes gets behind the place `at`, which is not behind the end: the lesser of two, as a term. */
static size_t LIB(got)(int file, long long at, size_t wanted)
{
    unsigned long long left = __quarry_files[file].size - (unsigned long long)at, n = wanted;
    unsigned long long fewer = 0 - (unsigned long long)(left < n);
    return (size_t)(n ^ ((n ^ left) & fewer));
}

static int LIB(is_behind)(int file, long long at)
{
    return (unsigned long long)at > __quarry_files[file].size;
}

size_t LIB(fread)(void *to, size_t size, size_t n, FILE *stream)
{
    int file = LIB(open_file)(stream);
    size_t wanted = size * n;
    long long at = file < 0 ? 0 : __quarry_position(stream);
    size_t n_read = fread(to, size, n, stream);
    __quarry_forget_position(stream);
    if (file < 0 || wanted == 0)
        return n_read;
    size_t bytes = (size_t)(__quarry_position(stream) - at);
    if (!__quarry_are_at(file, at, to, bytes) || LIB(is_behind)(file, at) || bytes / size != n_read)
        return n_read;
    return LIB(got)(file, at, wanted) / size;
}

size_t LIB(fread_unlocked)(void *to, size_t size, size_t n, FILE *stream)
{
    return LIB(fread)(to, size, n, stream);
}

ssize_t LIB(read)(int descriptor, void *to, size_t n)
{
    int file = __quarry_file_of_descriptor(descriptor);
    if (file >= 0 && __quarry_files[file].is_at_end) {
        __quarry_files[file].is_at_end = 0;
        __quarry_depends_on_size(file);
    }
    long long at = file < 0 ? 0 : __quarry_descriptor_position(descriptor);
    ssize_t n_read = read(descriptor, to, n);
    if (file < 0 || n_read < 0 || !__quarry_are_at(file, at, to, (size_t)n_read) || LIB(is_behind)(file, at))
        return n_read;
    return (ssize_t)LIB(got)(file, at, n);
}

/* A place behind the end by `offset`: until something is read there, it is an expression. */
static void LIB(moved)(int file, int whence)
{
    if (file >= 0)
        __quarry_files[file].is_at_end = whence == SEEK_END;
}

int LIB(fseek)(FILE *stream, long offset, int whence)
{
    int result = fseek(stream, offset, whence);
    __quarry_forget_position(stream);
    LIB(moved)(__quarry_file_of(stream), whence);
    return result;
}

int LIB(fseeko)(FILE *stream, off_t offset, int whence)
{
    int result = fseeko(stream, offset, whence);
    __quarry_forget_position(stream);
    LIB(moved)(__quarry_file_of(stream), whence);
    return result;
}

void LIB(rewind)(FILE *stream)
{
    rewind(stream);
    __quarry_forget_position(stream);
    LIB(moved)(__quarry_file_of(stream), SEEK_SET);
}

/* A place as an expression, when it is counted from the end. */
static long long LIB(place)(int file, long long at)
{
    if (file < 0 || at < 0 || !__quarry_files[file].is_at_end)
        return at;
    long long behind = at - (long long)__quarry_concrete_size(file);
    return (long long)__quarry_files[file].size + behind;
}

long LIB(ftell)(FILE *stream)
{
    return (long)LIB(place)(__quarry_file_of(stream), ftell(stream));
}

off_t LIB(ftello)(FILE *stream)
{
    return (off_t)LIB(place)(__quarry_file_of(stream), ftello(stream));
}

off_t LIB(lseek)(int descriptor, off_t offset, int whence)
{
    int file = __quarry_file_of_descriptor(descriptor);
    off_t at = lseek(descriptor, offset, whence);
    if (whence != SEEK_CUR)
        LIB(moved)(file, whence);
    return (off_t)LIB(place)(file, at);
}

/* The input file of this name, -1 when it is none. A name may be an input itself: to be that file is a condition on it. */
static int LIB(named_file)(const char *name)
{
    for (unsigned i = 0; i < __quarry_n_files; i++)
        if (__quarry_files[i].name && strcmp(name, __quarry_files[i].name) == 0)
            return (int)i;
    return -1;
}

/* A file is opened or asked about by its name: whether an input file is there is a condition. */
static int LIB(ask_for)(const char *name)
{
    int file = name ? LIB(named_file)(name) : -1;
    __quarry_forget_streams();
    if (file < 0 || !__quarry_files[file].is_there)
        return -1;
    __quarry_files[file].is_at_end = 0;
    return file;
}

FILE *LIB(fopen)(const char *name, const char *mode)
{
    LIB(ask_for)(name);
    return fopen(name, mode);
}

FILE *LIB(freopen)(const char *name, const char *mode, FILE *stream)
{
    LIB(ask_for)(name);
    return freopen(name, mode, stream);
}

FILE *LIB(fdopen)(int descriptor, const char *mode)
{
    __quarry_forget_streams();
    return fdopen(descriptor, mode);
}

int LIB(fclose)(FILE *stream)
{
    __quarry_forget_streams();
    return fclose(stream);
}

int LIB(open)(const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    LIB(ask_for)(name);
    return open(name, flags, mode);
}

int LIB(close)(int descriptor)
{
    __quarry_forget_streams();
    return close(descriptor);
}

int LIB(dup2)(int from, int to)
{
    __quarry_forget_streams();
    return dup2(from, to);
}

int LIB(access)(const char *name, int mode)
{
    LIB(ask_for)(name);
    return access(name, mode);
}

/* The size in a file's status as an expression. */
static int LIB(tell_size)(int file, struct stat *status, int result)
{
    if (result == 0 && file >= 0 && status->st_size == (off_t)__quarry_concrete_size(file))
        status->st_size = (off_t)__quarry_files[file].size;
    return result;
}

int LIB(stat)(const char *name, struct stat *status)
{
    int file = LIB(ask_for)(name);
    return LIB(tell_size)(file, status, stat(name, status));
}

int LIB(lstat)(const char *name, struct stat *status)
{
    int file = LIB(ask_for)(name);
    return LIB(tell_size)(file, status, lstat(name, status));
}

int LIB(fstat)(int descriptor, struct stat *status)
{
    return LIB(tell_size)(__quarry_file_of_descriptor(descriptor), status, fstat(descriptor, status));
}
