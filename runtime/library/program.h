/* What a whole program is given, as the runtime makes it and as models of library functions see it. */
#ifndef QUARRY_PROGRAM_H
#define QUARRY_PROGRAM_H

#include <stdio.h>

/* A file that is input; the first is standard input if that is. The real file holds the same bytes: streams and
 * descriptors are the library's own, and expressions are attached to what they deliver. */
struct __quarry_file {
    const char *name;            /* null: standard input */
    unsigned char *bytes;        /* what it holds, symbolic */
    unsigned long long size;     /* how much that is, symbolic */
    unsigned char is_there;      /* whether there is such a file, symbolic */
    unsigned char is_at_end;     /* whether it was put at its end, and nothing read since: its place is symbolic */
    unsigned long long n_known;  /* so many bytes are there for sure on this path: no need to ask again */
    unsigned char is_end_known;  /* and no more */
    unsigned long long identity; /* of the real file */
};

/* A variable of the environment that is input. */
struct __quarry_variable {
    const char *name;
    const char *value;    /* symbolic bytes */
    unsigned char is_set; /* symbolic */
};

#define QUARRY_FILES 16
#define QUARRY_VARIABLES 16

extern struct __quarry_file __quarry_files[QUARRY_FILES];
extern unsigned __quarry_n_files;
extern struct __quarry_variable __quarry_variables[QUARRY_VARIABLES];
extern unsigned __quarry_n_variables;

/* Which file a stream or a descriptor reads, -1 when it is no input. */
int __quarry_file_of(FILE *stream);
int __quarry_file_of_descriptor(int descriptor);
/* The library has read from a stream, or moved in it, by itself. */
void __quarry_forget_position(FILE *stream);
/* Streams or descriptors may mean other files from now on. */
void __quarry_forget_streams(void);
/* Where the next byte comes from. */
long long __quarry_position(FILE *stream);
/* What fgetc delivered. */
struct __quarry_byte {
    int c;        /* a byte or EOF */
    int file;     /* the input that it comes from; -1: none, or one of which it is not known where this is */
    int is_known; /* whether the path has already said that the file has a byte here, or that it ends here */
    long long at;
};
const struct __quarry_byte *__quarry_next_byte(FILE *stream);
long long __quarry_descriptor_position(int descriptor);
/* Whether the library delivered `c` (a byte or EOF) because it is what the file has at this place. */
int __quarry_is_at(int file, long long at, int c);
/* The same for many bytes, which get their expressions. */
int __quarry_are_at(int file, long long at, void *bytes, size_t n);
/* The size that the file has in this run. */
unsigned long long __quarry_concrete_size(int file);
/* The run depends on the bytes from `begin` on to `end`, or on where the file ends. */
void __quarry_depends_on(int file, long long begin, long long end);
void __quarry_depends_on_size(int file);
/* ungetc of a character in memory. */
int __quarry_push_back(const int *c, FILE *stream);
/* Whether getenv found the variable as it was given. */
int __quarry_is_as_given(unsigned variable, const char *found);
/* Whether the next allocation fails: a choice that is input, or null. */
const unsigned char *__quarry_allocation(void);

#endif
