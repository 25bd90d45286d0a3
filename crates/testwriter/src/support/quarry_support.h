/* What generated tests need besides C: captured output, calls that end the process, floating-point values to the bit. */
#ifndef QUARRY_SUPPORT_H
#define QUARRY_SUPPORT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Output goes to files from here on; quarry_release brings it back, quarry_stdout and quarry_stderr tell what it was. */
void quarry_capture(void);
void quarry_release(void);
const char *quarry_stdout(void);
const char *quarry_stderr(void);

/* Calls the function in a process of its own; its exit status, or 1000 and the signal that ended it. */
int quarry_exit_status(void (*call)(void));

/* Equal to the bit, both no number, or at most so many representable values apart. */
int quarry_same_float(float a, float b, unsigned long long n_apart);
int quarry_same_double(double a, double b, unsigned long long n_apart);

/* Whether a test is named on the command line, or none is. */
int quarry_is_wanted(int argc, char **argv, const char *name);

#ifdef __cplusplus
}
#endif

#endif
