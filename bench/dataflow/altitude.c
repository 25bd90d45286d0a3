// An altitude switch: sources voted, filtered and watched, a mode that lives across cycles, faults that latch.
//@ function: altitude_switch
//@ args: --len readings=12
//@ branches: 65
//@ infeasible: 0

enum { N_SOURCES = 3, N_CYCLES = 4, MAX_JUMP = 500, MAX_SPREAD = 200, STALE_LIMIT = 2, HYSTERESIS = 100 };
enum mode { STANDBY, ARMED, POWERED, INHIBITED, FAILED };
enum fault { NO_FAULT = 0, FAULT_SPREAD = 1, FAULT_STALE = 2, FAULT_RANGE = 4, FAULT_DEVICE = 8 };

struct source {
    int altitude;
    int valid;
    int stale;
};

struct command {
    int inhibit;
    int reset;
    int threshold;
};

static struct source sources[N_SOURCES];
static enum mode mode;
static unsigned faults;
static int last_altitude;
static int device_on;
static int device_delay;
static int indicator;

static int absolute(int value)
{
    return value < 0 ? -value : value;
}

static void initialise(void)
{
    for (int i = 0; i < N_SOURCES; i++) {
        sources[i].altitude = 0;
        sources[i].valid = 0;
        sources[i].stale = 0;
    }
    mode = STANDBY;
    faults = NO_FAULT;
    last_altitude = 5000;
    device_on = 0;
    device_delay = 0;
    indicator = 0;
}

static void read_source(int number, int reading)
{
    struct source *source = &sources[number];
    if (reading < -1000 || reading > 60000) {
        source->valid = 0;
        faults |= FAULT_RANGE;
        return;
    }
    if (reading == source->altitude) {
        source->stale++;
    } else {
        source->stale = 0;
    }
    source->altitude = reading;
    source->valid = source->stale < STALE_LIMIT;
    if (!source->valid)
        faults |= FAULT_STALE;
}

static int count_valid(void)
{
    int n_valid = 0;
    for (int i = 0; i < N_SOURCES; i++) {
        if (sources[i].valid)
            n_valid++;
    }
    return n_valid;
}

static int lowest_valid(void)
{
    int lowest = 60001;
    for (int i = 0; i < N_SOURCES; i++) {
        if (sources[i].valid && sources[i].altitude < lowest)
            lowest = sources[i].altitude;
    }
    return lowest;
}

static int highest_valid(void)
{
    int highest = -1001;
    for (int i = 0; i < N_SOURCES; i++) {
        if (sources[i].valid && sources[i].altitude > highest)
            highest = sources[i].altitude;
    }
    return highest;
}

/* The altitude to act on: the lowest source, which is the safe side; the last one when no source is valid. */
static int vote(void)
{
    int lowest, highest;
    if (count_valid() == 0)
        return last_altitude;
    lowest = lowest_valid();
    highest = highest_valid();
    if (highest - lowest > MAX_SPREAD)
        faults |= FAULT_SPREAD;
    return lowest;
}

static int filter(int altitude)
{
    int jump = altitude - last_altitude;
    if (absolute(jump) > MAX_JUMP) {
        if (jump > 0)
            altitude = last_altitude + MAX_JUMP;
        else
            altitude = last_altitude - MAX_JUMP;
    }
    last_altitude = altitude;
    return altitude;
}

static void switch_device(int on)
{
    if (on == device_on)
        return;
    device_delay++;
    if (device_delay > 1) {
        device_on = on;
        device_delay = 0;
    }
}

static enum mode next_mode(int altitude, const struct command *command)
{
    if (faults & FAULT_SPREAD)
        return FAILED;
    switch (mode) {
    case STANDBY:
        return command->inhibit ? INHIBITED : ARMED;
    case ARMED:
        if (command->inhibit)
            return INHIBITED;
        return altitude < command->threshold ? POWERED : ARMED;
    case POWERED:
        return altitude > command->threshold + HYSTERESIS ? ARMED : POWERED;
    case INHIBITED:
        return command->inhibit ? INHIBITED : STANDBY;
    default:
        return command->reset > 1 ? STANDBY : FAILED;
    }
}

static void cycle(const int *readings, const struct command *command)
{
    int altitude;
    if (command->reset)
        faults = NO_FAULT;
    for (int i = 0; i < N_SOURCES; i++)
        read_source(i, readings[i]);
    altitude = filter(vote());
    mode = next_mode(altitude, command);
    switch_device(mode == POWERED);
    if (mode == POWERED && !device_on)
        faults |= FAULT_DEVICE;
    indicator = faults != NO_FAULT ? 2 : mode == POWERED;
}

int altitude_switch(const int *readings, int inhibit, int reset, int threshold)
{
    struct command command = {inhibit, 0, threshold};
    if (threshold < 100 || threshold > 10000)
        return -1;
    initialise();
    for (int i = 0; i < N_CYCLES; i++) {
        cycle(readings + i * N_SOURCES, &command);
        command.reset = reset;
        command.inhibit = inhibit > i + 1;
    }
    return device_on * 100 + indicator * 10 + (int)mode;
}
