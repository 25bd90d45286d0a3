// What kind of triangle do three sides make?

enum kind { NOT_A_TRIANGLE, SCALENE, ISOSCELES, EQUILATERAL };

enum kind triangle(short a, short b, short c)
{
    if (a <= 0 || b <= 0 || c <= 0)
        return NOT_A_TRIANGLE;
    if (a + b <= c || b + c <= a || c + a <= b)
        return NOT_A_TRIANGLE;
    if (a == b && b == c)
        return EQUILATERAL;
    if (a == b || b == c || c == a)
        return ISOSCELES;
    return SCALENE;
}
