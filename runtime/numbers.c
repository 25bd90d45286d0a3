/* The results of atoi and its relatives, as one term over the characters they read.
 *
 * The library's own function has run. The term says what it gives for any text of the same place: white space, a sign, digits, as far as
 * the text may be looked at (strings.c). So a condition on a number is one query, whatever the number of digits that the text
 * has in this run. Where the text may go on further than that, the log gets a pin: the number ended before. */

/* Characters that are looked at, at most; and for a result of 32 bits, as long as the number of this run is no longer: a solver would
 * lose itself among the long numbers that are a short one when they are cut. */
#define Q_NUMBER_LENGTH 64u
#define Q_SHORT_NUMBER_LENGTH 11u

/* What has been read of a number so far: the magnitude in few bits as long as it is short, which a solver likes better. */
struct q_number {
    unsigned width;
    struct q_term magnitude;
    struct q_term is_negative, has_begun, is_over, overflows;
    unsigned n_characters;
};

static struct q_term q_negated(struct q_term truth)
{
    return q_with(Q_XOR, truth, 1);
}

/* Digits that every number of this width has room for. */
static unsigned q_safe_digits(unsigned width)
{
    return width == 64 ? 18 : 9;
}

/* Whether one more digit is too much; the least number goes one further than the greatest. */
static struct q_term q_too_much(const struct q_number *number, struct q_term digit)
{
    unsigned width = number->width;
    uint64_t greatest = q_mask(width) >> 1;
    struct q_term last = q_pick(number->is_negative, q_term(0, width, greatest % 10 + 1), q_term(0, width, greatest % 10));
    struct q_term full = q_term(0, width, greatest / 10);
    struct q_term is_full = q_apply(Q_EQ, number->magnitude, full);
    return q_either(q_apply(Q_ULT, full, number->magnitude), q_both(is_full, q_apply(Q_ULT, last, digit)));
}

static void q_read_character(struct q_number *number, struct q_term c)
{
    unsigned n = number->n_characters++, width = 4 * n + 8 < number->width ? 4 * n + 8 : number->width;
    struct q_term is_open = q_negated(number->is_over);
    struct q_term may_begin = q_both(is_open, q_negated(number->has_begun));
    struct q_term is_minus = q_with(Q_EQ, c, '-');
    struct q_term digit = q_with(Q_SUB, c, '0');
    struct q_term is_digit = q_both(is_open, q_with(Q_ULT, digit, 10));
    struct q_term is_sign = q_both(may_begin, q_either(is_minus, q_with(Q_EQ, c, '+')));
    struct q_term is_white = q_either(q_with(Q_EQ, c, ' '), q_with(Q_ULT, q_with(Q_SUB, c, '\t'), 5));
    struct q_term wide = q_extended(Q_ZEXT, digit, width);
    if (n >= q_safe_digits(number->width))
        number->overflows = q_either(number->overflows, q_both(is_digit, q_too_much(number, wide)));
    struct q_term before = q_extended(Q_ZEXT, number->magnitude, width);
    number->magnitude = q_pick(is_digit, q_apply(Q_ADD, q_with(Q_MUL, before, 10), wide), before);
    number->is_negative = q_either(number->is_negative, q_both(is_sign, is_minus));
    struct q_term goes_on = q_either(q_either(is_digit, is_sign), q_both(may_begin, is_white));
    number->has_begun = q_either(number->has_begun, q_either(is_digit, is_sign));
    number->is_over = q_negated(goes_on);
}

static struct q_term q_number_result(const struct q_number *number)
{
    unsigned width = number->width;
    uint64_t greatest = q_mask(width) >> 1;
    struct q_term zero = q_term(0, width, 0), magnitude = q_extended(Q_ZEXT, number->magnitude, width);
    struct q_term value = q_pick(number->is_negative, q_apply(Q_SUB, zero, magnitude), magnitude);
    struct q_term limit = q_pick(number->is_negative, q_term(0, width, greatest + 1), q_term(0, width, greatest));
    return q_pick(number->overflows, limit, value);
}

/* Whether the number ended before this is taken as it is; asked again, it is known. */
static void q_pin_end(struct q_number *number, uint32_t site)
{
    if (number->is_over.node)
        q_pin_at(Q_EV_PIN, number->is_over.node, number->is_over.value, site);
    if (number->is_over.value)
        number->is_over.node = 0;
}

static int q_may_be_of_number(uint8_t c)
{
    return (uint8_t)(c - '0') < 10 || c == '-' || c == '+' || c == ' ' || (uint8_t)(c - '\t') < 5;
}

/* atoi, atol and atoll: a number of `width` bits was read, and `returned` is what is left of it in `n_bits`. The site is that of longer
 * numbers. */
Q_ENTRY q_id __quarry_number(uintptr_t start, uint32_t width, uint32_t n_bits, uint64_t returned, uint32_t site)
{
    if (!H.n_nodes)
        return 0;
    /* what the library's function has looked at for sure: up to the first character that no number has */
    size_t known = 0;
    while (known < Q_NUMBER_LENGTH && q_may_be_of_number(q_read_byte(start + known++)))
        ;
    if (!q_any_flag(start, known))
        return 0;
    struct q_text text = {start, known};
    const struct q_term no = q_term(0, 1, 0);
    struct q_number number = {width, q_term(0, 8, 0), no, no, no, no, 0};
    unsigned most = n_bits == 32 ? Q_SHORT_NUMBER_LENGTH : Q_NUMBER_LENGTH;
    for (size_t n = 0; n < Q_NUMBER_LENGTH && q_is_readable(text, n); n++) {
        if (n == most)
            q_pin_end(&number, site);
        if (number.is_over.value && (!number.is_over.node || n == most))
            break;
        q_read_character(&number, q_text_byte(text, n));
    }
    q_pin_end(&number, site);
    struct q_term result = q_number_result(&number);
    result = q_term(q_extract(n_bits, result.node, 0), n_bits, result.value & q_mask(n_bits));
    if (result.value != (returned & q_mask(n_bits))) /* it goes on for longer than it was looked at */
        return 0;
    return result.node;
}
