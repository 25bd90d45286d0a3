/* Runs of a harness that may end in any way. */
#ifndef GUARD_H
#define GUARD_H

/* Has `act` called when the function under test crashes or takes more than `milliseconds` of processor time. */
void guard(unsigned milliseconds, void (*act)(int signal));
/* The time of the next run begins. */
void begin_run(void);
/* From here on, this process changes only files below these two directories. */
void confine(const char *directory, const char *other);

#endif
