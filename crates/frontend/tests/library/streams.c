/* Streams and descriptors: two of each read the same file, one by way of the models, one by the library alone. */

#define MOST 40

static unsigned char contents[MOST];
static FILE *our_stream, *their_stream;
static int our_descriptor, their_descriptor;

static void open_input(const char *name)
{
    unsigned size = pick(MOST + 1);
    FILE *file = fopen(name, "wb");
    for (unsigned i = 0; i < size; i++)
        contents[i] = (unsigned char)"ab,1 2\n\0-x\xff"[pick(12)];
    fwrite(contents, 1, size, file);
    fclose(file);
    __quarry_files[0] = (struct __quarry_file){.name = name, .bytes = contents, .size = size, .is_there = 1};
    __quarry_n_files = 1;
    our_stream = LIB(fopen)(name, "rb");
    their_stream = fopen(name, "rb");
    our_descriptor = LIB(open)(name, O_RDONLY);
    their_descriptor = open(name, O_RDONLY);
    input_stream = our_stream;
    input_descriptor = our_descriptor;
}

static void close_input(void)
{
    LIB(fclose)(our_stream);
    fclose(their_stream);
    LIB(close)(our_descriptor);
    close(their_descriptor);
    input_stream = 0;
    input_descriptor = -1;
}

static void compare_characters(void)
{
    int a = pick(2) ? LIB(fgetc)(our_stream) : LIB(getc_unlocked)(our_stream), b = fgetc(their_stream);
    expect(a == b, "fgetc: %d, not %d", a, b);
    if (pick(3) == 0) { /* the same one back, or another */
        int c = pick(4) ? b : 'q';
        a = LIB(ungetc)(c, our_stream);
        b = ungetc(c, their_stream);
        expect(a == b, "ungetc(%d): %d, not %d", c, a, b);
    }
}

static void compare_lines(void)
{
    int n = (int)pick(12);
    memset(ours, '#', ROOM);
    memset(theirs, '#', ROOM);
    char *a = pick(2) ? LIB(fgets)(ours, n, our_stream) : LIB(__fgets_chk)(ours, ROOM, n, our_stream);
    char *b = fgets(theirs, n, their_stream);
    expect(!a == !b && !memcmp(ours, theirs, ROOM), "fgets of %d", n);
    char *line_a = 0, *line_b = 0;
    size_t room_a = 0, room_b = 0;
    int delimiter = pick(2) ? '\n' : ',';
    ssize_t n_a = LIB(getdelim)(&line_a, &room_a, delimiter, our_stream);
    ssize_t n_b = getdelim(&line_b, &room_b, delimiter, their_stream);
    expect(n_a == n_b && (n_a < 0 || !memcmp(line_a, line_b, (size_t)n_a + 1)), "getdelim: %zd, not %zd", n_a, n_b);
    free(line_a);
    free(line_b);
}

static void compare_blocks(void)
{
    size_t size = pick(4) + 1, n = pick(6);
    memset(ours, '#', ROOM);
    memset(theirs, '#', ROOM);
    size_t a = LIB(fread)(ours, size, n, our_stream), b = fread(theirs, size, n, their_stream);
    expect(a == b && !memcmp(ours, theirs, ROOM), "fread(%zu, %zu): %zu, not %zu", size, n, a, b);
    n = pick(20);
    ssize_t read_a = LIB(read)(our_descriptor, ours, n), read_b = read(their_descriptor, theirs, n);
    expect(read_a == read_b && !memcmp(ours, theirs, ROOM), "read(%zu): %zd, not %zd", n, read_a, read_b);
}

static void compare_places(void)
{
    static const int whences[] = {SEEK_SET, SEEK_CUR, SEEK_END};
    int whence = whences[pick(3)];
    long offset = (long)pick(MOST) - MOST / 2;
    int a = LIB(fseek)(our_stream, offset, whence), b = fseek(their_stream, offset, whence);
    expect(a == b && LIB(ftell)(our_stream) == ftell(their_stream), "fseek(%ld, %d): %d, not %d", offset, whence, a, b);
    off_t at_a = LIB(lseek)(our_descriptor, offset, whence), at_b = lseek(their_descriptor, offset, whence);
    expect(at_a == at_b, "lseek(%ld, %d)", offset, whence);
    if (pick(4) == 0) {
        LIB(rewind)(our_stream);
        rewind(their_stream);
    }
}

static void compare_scanned(void)
{
    static const char *const formats[] = {"%d", "%3d,%1s", "%[ab]%c", " %x", "%s %d", "%*s%n", "a%d", "%f"};
    const char *format = formats[pick(sizeof formats / sizeof *formats)];
    long long a[4][8] = {{0}}, b[4][8] = {{0}}; /* room for all that the file has */
    int n_a = LIB(fscanf)(our_stream, format, a[0], a[1], a[2]), n_b = fscanf(their_stream, format, b[0], b[1], b[2]);
    expect(n_a == n_b && !memcmp(a, b, sizeof a), "fscanf(\"%s\"): %d, not %d", format, n_a, n_b);
}

static void compare_streams(void)
{
    char name[] = "/tmp/quarry-compare-XXXXXX";
    close(mkstemp(name));
    for (int i = 0; i < 4000; i++) {
        open_input(name);
        for (unsigned n = pick(12); n > 0; n--) {
            static void (*const steps[])(void) = {compare_characters, compare_characters, compare_lines,
                                                  compare_blocks,     compare_places,     compare_scanned};
            steps[pick(sizeof steps / sizeof *steps)]();
            expect(feof(our_stream) == feof(their_stream), "feof");
            expect(ftell(our_stream) == ftell(their_stream), "ftell: %ld, not %ld", ftell(our_stream), ftell(their_stream));
        }
        close_input();
    }
    __quarry_n_files = 0;
    unlink(name);
}
