// Options with values: reads settings by getopt_long, checks them against each other and describes the picture that they ask for.
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum format { PNG, GIF, SVG, TEXT };
enum { OPTION_SCALE = 256, OPTION_BORDER, OPTION_NO_BORDER };

struct settings {
    long width;
    long height;
    unsigned color;
    double scale;
    int border;
    int quality;
    int verbosity;
    int is_interlaced;
    enum format format;
    const char *title;
};

static const struct {
    const char *name;
    unsigned color;
} colors[] = {{"black", 0}, {"white", 0xffffff}, {"red", 0xff0000}, {"green", 0x00ff00}, {"blue", 0x0000ff}};

static int complain(const char *what, const char *value)
{
    fprintf(stderr, "options: bad %s '%s'\n", what, value);
    return 0;
}

static int parse_long(const char *text, long low, long high, long *value)
{
    char *end;
    long number = strtol(text, &end, 0);
    if (end == text || *end || number < low || number > high)
        return 0;
    *value = number;
    return 1;
}

/* WIDTHxHEIGHT, or one number for both. */
static int parse_size(const char *text, struct settings *settings)
{
    int width, height, n = 0;
    if (sscanf(text, "%dx%d%n", &width, &height, &n) == 2 && !text[n]) {
        settings->width = width;
        settings->height = height;
    } else if (parse_long(text, 1, 10000, &settings->width))
        settings->height = settings->width;
    else
        return complain("size", text);
    if (settings->width < 1 || settings->height < 1)
        return complain("size", text);
    return 1;
}

static int hex(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static int parse_color(const char *text, unsigned *color)
{
    size_t i;
    if (*text == '#') {
        size_t n = strlen(text + 1);
        unsigned value = 0;
        if (n != 3 && n != 6)
            return complain("color", text);
        for (i = 1; i <= n; i++) {
            int digit = hex((unsigned char)text[i]);
            if (digit < 0)
                return complain("color", text);
            value = value * 16 + (unsigned)digit;
            if (n == 3)
                value = value * 16 + (unsigned)digit;
        }
        *color = value;
        return 1;
    }
    for (i = 0; i < sizeof colors / sizeof *colors; i++)
        if (strcasecmp(text, colors[i].name) == 0) {
            *color = colors[i].color;
            return 1;
        }
    return complain("color", text);
}

/* A factor such as 2, 0.5, 50% or 1/3. */
static int parse_scale(const char *text, double *scale)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text)
        return complain("scale", text);
    if (*end == '%') {
        value /= 100;
        end++;
    } else if (*end == '/') {
        const char *divisor = end + 1;
        double by = strtod(divisor, &end);
        if (end == divisor || by == 0)
            return complain("scale", text);
        value /= by;
    }
    if (*end || value <= 0 || value > 100)
        return complain("scale", text);
    *scale = value;
    return 1;
}

static int parse_format(const char *text, enum format *format)
{
    if (strcasecmp(text, "png") == 0)
        *format = PNG;
    else if (strcasecmp(text, "gif") == 0)
        *format = GIF;
    else if (strcasecmp(text, "svg") == 0)
        *format = SVG;
    else if (strcasecmp(text, "text") == 0 || strcasecmp(text, "txt") == 0)
        *format = TEXT;
    else
        return complain("format", text);
    return 1;
}

static int parse(int argc, char **argv, struct settings *settings)
{
    static const struct option longs[] = {{"size", required_argument, NULL, 's'},        {"color", required_argument, NULL, 'c'},
                                          {"format", required_argument, NULL, 'f'},      {"quality", required_argument, NULL, 'q'},
                                          {"title", required_argument, NULL, 't'},       {"interlace", no_argument, NULL, 'i'},
                                          {"verbose", no_argument, NULL, 'v'},           {"scale", required_argument, NULL, OPTION_SCALE},
                                          {"border", optional_argument, NULL, OPTION_BORDER}, {"no-border", no_argument, NULL, OPTION_NO_BORDER},
                                          {NULL, 0, NULL, 0}};
    long number;
    int option;
    while ((option = getopt_long(argc, argv, "s:c:f:q:t:iv", longs, NULL)) != -1) {
        switch (option) {
        case 's':
            if (!parse_size(optarg, settings))
                return 0;
            break;
        case 'c':
            if (!parse_color(optarg, &settings->color))
                return 0;
            break;
        case 'f':
            if (!parse_format(optarg, &settings->format))
                return 0;
            break;
        case 'q':
            if (!parse_long(optarg, 0, 100, &number))
                return complain("quality", optarg);
            settings->quality = (int)number;
            break;
        case 't':
            if (!*optarg)
                return complain("title", optarg);
            settings->title = optarg;
            break;
        case 'i':
            settings->is_interlaced = 1;
            break;
        case 'v':
            settings->verbosity++;
            break;
        case OPTION_SCALE:
            if (!parse_scale(optarg, &settings->scale))
                return 0;
            break;
        case OPTION_BORDER:
            settings->border = 1;
            if (optarg) {
                if (!parse_long(optarg, 0, 20, &number))
                    return complain("border", optarg);
                settings->border = (int)number;
            }
            break;
        case OPTION_NO_BORDER:
            settings->border = 0;
            break;
        default:
            return 0;
        }
    }
    return 1;
}

static int check(const struct settings *settings)
{
    if (settings->is_interlaced && settings->format != PNG && settings->format != GIF) {
        fprintf(stderr, "options: only bitmaps are interlaced\n");
        return 0;
    }
    if (settings->quality >= 0 && settings->format == SVG) {
        fprintf(stderr, "options: drawings have no quality\n");
        return 0;
    }
    if (settings->format == TEXT && (settings->width > 132 || settings->height > 66)) {
        fprintf(stderr, "options: text is too large\n");
        return 0;
    }
    if (2 * settings->border >= settings->width || 2 * settings->border >= settings->height) {
        fprintf(stderr, "options: nothing is left inside the border\n");
        return 0;
    }
    if (settings->width * settings->height > 10000000) {
        fprintf(stderr, "options: too large\n");
        return 0;
    }
    return 1;
}

static void describe(const struct settings *settings, const char *file)
{
    static const char *const names[] = {"png", "gif", "svg", "text"};
    printf("%s: %ldx%ld %s", file, settings->width, settings->height, names[settings->format]);
    if (settings->color)
        printf(" #%06x", settings->color);
    if (settings->scale != 1.0)
        printf(" at %g", settings->scale);
    if (settings->border > 0)
        printf(" border %d", settings->border);
    if (settings->title)
        printf(" '%s'", settings->title);
    if (settings->is_interlaced)
        printf(" interlaced");
    printf("\n");
    if (settings->verbosity > 1)
        printf("area %ld\n", settings->width * settings->height);
    else if (settings->verbosity == 1)
        printf("verbose\n");
}

int main(int argc, char **argv)
{
    struct settings settings = {.width = 64, .height = 48, .scale = 1.0, .quality = -1};
    int i;
    if (!parse(argc, argv, &settings))
        return 2;
    if (!check(&settings))
        return 3;
    if (optind == argc) {
        fprintf(stderr, "options: no file\n");
        return 1;
    }
    for (i = optind; i < argc; i++) {
        const char *dot = strrchr(argv[i], '.');
        if (!dot || !dot[1]) {
            fprintf(stderr, "options: %s has no extension\n", argv[i]);
            return 4;
        }
        describe(&settings, argv[i]);
    }
    return 0;
}
