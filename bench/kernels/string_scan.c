// Scanner: a branch per character, character classes, a switch, words counted.
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 16, ROUNDS = 120 };
static char text[SIZE + 1];

struct counts {
    int words, numbers, lines, marks;
};

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

static void scan(const char *p, struct counts *counts)
{
    while (*p != '\0') {
        if (is_letter(*p)) {
            while (is_letter(*p) || is_digit(*p))
                p++;
            counts->words++;
            continue;
        }
        if (is_digit(*p)) {
            while (is_digit(*p))
                p++;
            counts->numbers++;
            continue;
        }
        switch (*p) {
        case '\n':
            counts->lines++;
            break;
        case '.':
        case ',':
        case '?':
            counts->marks++;
            break;
        default:
            break;
        }
        p++;
    }
}

int main(int argc, char **argv)
{
    static const char alphabet[] = "etaoin shrdlu ETA 0123 9 ,.?\n ab cd";
    struct counts counts = {0, 0, 0, 0};
    unsigned seed = 99;
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;

    for (int i = 0; i < SIZE; i++) {
        seed = seed * 1664525u + 1013904223u;
        text[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
    }
    for (int round = 0; round < rounds; round++)
        scan(text, &counts);
    printf("%d %d %d %d\n", counts.words, counts.numbers, counts.lines, counts.marks);
    return 0;
}
