#!/usr/bin/env python3
"""Writes the larger programs of bench/prover: rules.c, locks_many.c and ring.c, with the truth of every marked line.

Method: rules.c is a model first: states as tuples, a step for every input. All states that can be reached are listed, and a condition is
marked "feasible" if one of them meets it and "infeasible" if none does. The C is printed from the same model. The other two have marks by
how they are built. Run with --check to compare with what is there. Limit: what is not marked was not asked.
"""

import argparse
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
NONDET = "extern int __VERIFIER_nondet_int(void);\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args()
    wrong = []
    for name, text in (("rules.c", rules()), ("locks_many.c", locks()), ("ring.c", ring())):
        path = HERE / name
        if not options.check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            wrong.append(name)
    for name in wrong:
        print(f"{name} is not what generate.py writes")
    return 1 if wrong else 0


def word(holds: bool) -> str:
    return "feasible" if holds else "infeasible"


def rules() -> str:
    """240 rules over eleven variables in three functions; each function handles what the one before did not."""
    rng = random.Random(11)
    domains = [[2, 3, 4, 5], [0, 1], [7, 8, 9], [1, 2, 3, 4, 5], [0, 1], [10, 11, 12, 13], [0, 1], [4, 6], [3, 9, 15], [0, 1], [1, 2]]
    names = [f"v{number}" for number in range(len(domains))]
    state = tuple(rng.choice(domain) for domain in domains)
    first, inputs = state, [1, 2, 3, 4, 5]

    def condition(states) -> dict:
        """What some of the variables have in one of these states, or nearly."""
        base = rng.choice(states)
        chosen = rng.sample(range(len(domains)), rng.choice([3, 4, 4, 5]))
        return {at: base[at] if rng.random() < 0.93 else rng.choice(domains[at]) for at in sorted(chosen)}

    # rules are made along the states that are reached so far, so that many of them fire
    functions, seen = [[], [], []], [first]
    for number in range(240):
        when = condition(seen)
        what = {at: rng.choice(domains[at]) for at in rng.sample(range(len(domains)), rng.choice([1, 2, 2, 3]))}
        functions[number * 3 // 240].append((rng.choice(inputs), when, what))
        if number % 48 == 47:
            seen = sorted(reach(first, inputs, functions)[0])[:4000]
    reached, fired = reach(first, inputs, functions)

    def meets(when) -> bool:
        return any(all(state[at] == value for at, value in when.items()) for state in reached)

    text = ("/* An event-condition-action system: 240 rules over eleven variables in three functions, of which each handles what the one before\n"
            f" * did not, and assertions. {len(reached)} of {size(domains)} combinations are reached; \"infeasible\" is what is not. generate.py wrote this. */\n\n{NONDET}\n")
    text += "".join(f"static int {name} = {value};\n" for name, value in zip(names, first))
    for at in (2, 1, 0):
        following = f"rules_{at + 2}(input)" if at < 2 else "-1"
        text += f"\nstatic int rules_{at + 1}(int input)\n{{\n"
        for number, (event, when, what) in enumerate(functions[at]):
            clauses = " && ".join([f"input == {event}"] + [f"{names[of]} == {value}" for of, value in when.items()])
            text += f"    {'} else ' if number else ''}if ({clauses}) {{ /* {word((at, number) in fired)} */\n"
            text += "".join(f"        {names[of]} = {value};\n" for of, value in what.items())
            text += f"        return {at * 80 + number};\n"
        text += f"    }}\n    return {following};\n}}\n"
    text += "\nint rules(void)\n{\n    for (;;) {\n        int input = __VERIFIER_nondet_int();\n        if (input < 1 || input > 5)\n            return 0;\n        rules_1(input);\n"
    asked = []
    while len(asked) < 40:
        when = dict(zip(range(len(domains)), rng.choice(sorted(reached))))
        for at in rng.sample(range(len(domains)), 3):
            when[at] = rng.choice(domains[at])
        for at in rng.sample(range(len(domains)), rng.choice([3, 5, 7])):
            when.pop(at)
        holds = meets(when)
        if sum(one == holds for _, one in asked) < (30 if not holds else 10):
            asked.append((when, holds))
    for number, (when, holds) in enumerate(asked):
        clauses = " && ".join(f"{names[at]} == {value}" for at, value in when.items())
        text += f"        if ({clauses}) /* {word(holds)} */\n            return {number + 1};\n"
    return text + "    }\n}\n"


def size(domains) -> int:
    product = 1
    for domain in domains:
        product *= len(domain)
    return product


def reach(first, inputs, functions):
    """The states at the head of the loop, and the rules that fire, by function and number."""
    reached, fired, waiting = {first}, set(), [first]
    while waiting:
        state = waiting.pop()
        for event in inputs:
            found = next(((at, number, what) for at, rules in enumerate(functions) for number, (on, when, what) in enumerate(rules)
                          if on == event and all(state[of] == value for of, value in when.items())), None)
            if found is None:
                continue
            fired.add(found[:2])
            after = list(state)
            for of, value in found[2].items():
                after[of] = value
            after = tuple(after)
            if after not in reached:
                reached.add(after)
                waiting.append(after)
    return reached, fired


def locks() -> str:
    """Locks that are taken and given back in one round, and locks that are kept over rounds by a mode."""
    count = 14
    text = ("/* Fourteen locks that are taken and given back under the same condition in each round, and four that a mode keeps over rounds. Each check\n"
            " * of a lock that cannot fail is \"infeasible\". generate.py wrote this. */\n\n" + NONDET + "\nint locks_many(void)\n{\n")
    for at in range(1, count + 1):
        text += f"    int p{at}, lk{at};\n"
    text += "    int mode = 0, keep1 = 0, keep2 = 0, keep3 = 0, keep4 = 0, turns = 0;\n    while (__VERIFIER_nondet_int() != 0) {\n"
    for at in range(1, count + 1):
        text += f"        p{at} = __VERIFIER_nondet_int();\n        lk{at} = 0;\n"
    for at in range(1, count + 1):
        text += f"        if (p{at} != 0)\n            lk{at} = 1;\n"
    text += KEPT
    for at in range(1, count + 1):
        mark = "feasible" if at == 9 else "infeasible"
        given = f"p{at} != {'1' if at == 9 else '0'}"
        text += f"        if ({given}) {{\n            if (lk{at} != 1) /* {mark} */\n                return {at};\n            lk{at} = 0;\n        }}\n"
    return text + "        if (turns < 1000)\n            turns++;\n    }\n    if (turns > 1000) /* infeasible */\n        return 200;\n    return 0;\n}\n"


# modes: 0 none is kept; 1 the first; 2 the first two; 3 the third; 4 all but the third
KEPT = """        switch (__VERIFIER_nondet_int()) {
        case 1:
            if (mode == 0) {
                if (keep1 || keep2 || keep3 || keep4) /* infeasible */
                    return 101;
                keep1 = 1;
                mode = 1;
            } else if (mode == 1) {
                if (keep2 != 0) /* infeasible */
                    return 102;
                keep2 = 1;
                mode = 2;
            }
            break;
        case 2:
            if (mode == 2) {
                if (!keep1) /* infeasible */
                    return 103;
                if (keep4) /* feasible */
                    return 104;
                keep4 = 1;
                mode = turns > 5 ? 4 : 2;
            }
            break;
        case 3:
            if (mode == 4) {
                if (!keep4) /* infeasible */
                    return 105;
                if (keep3) /* infeasible */
                    return 106;
                keep1 = keep2 = keep4 = 0;
                mode = 0;
            }
            break;
        case 4:
            if (mode == 0) {
                keep3 = 1;
                mode = 3;
            } else if (mode == 3) {
                if (keep3 == 0) /* infeasible */
                    return 107;
                if (keep1 != keep2) /* infeasible */
                    return 108;
                keep3 = 0;
                mode = 0;
            }
            break;
        default:
            break;
        }
        if (mode > 4 || mode < 0) /* infeasible */
            return 109;
"""


def ring() -> str:
    """A scheduler of processes that pass a token, with states, program counters and events as a simulation kernel keeps them."""
    count = 5
    text = ("/* A scheduler in the manner of a simulation kernel: five processes with program counters and states pass a token by events; a loop runs\n"
            " * those that are ready, in any order, and advances time when none is. \"infeasible\" is what no run comes to. generate.py wrote this. */\n\n" + NONDET)
    text += "\n/* states: 0 ready, 2 waits; events: 0 happens now, 1 happened, 2 does not */\n"
    for at in range(1, count + 1):
        text += f"static int pc{at} = 0, st{at} = 0, ev{at} = 2;\n"
    text += "static int token = 0, holder = 1, local = 0, stopped = 0, ticks = 0;\n\nstatic int fail(int number)\n{\n    return number;\n}\n"
    for at in range(1, count + 1):
        text += f"\nstatic int is_triggered_{at}(void)\n{{\n    if (pc{at} == 1)\n        if (ev{at} == 1)\n            return 1;\n    return 0;\n}}\n"
    text += "\nstatic void activate(void)\n{\n    int triggered;\n"
    for at in range(1, count + 1):
        text += f"    triggered = is_triggered_{at}();\n    if (triggered)\n        st{at} = 0;\n"
    text += "}\n\nstatic void fire(void)\n{\n" + "".join(f"    if (ev{at} == 0)\n        ev{at} = 1;\n" for at in range(1, count + 1)) + "}\n"
    text += "\nstatic void reset(void)\n{\n" + "".join(f"    if (ev{at} == 1)\n        ev{at} = 2;\n" for at in range(1, count + 1)) + "}\n"
    text += "\nstatic void notify(void)\n{\n    activate();\n}\n"
    for at in range(1, count + 1):
        following = at % count + 1
        text += f"\nstatic int process_{at}(void)\n{{\n    if (pc{at} == 0) {{\n"
        if at == 1:
            text += ("        token = 1;\n        local = token;\n        holder = 2;\n        ev2 = 1;\n        notify();\n        ev2 = 2;\n        pc1 = 1;\n        st1 = 2;\n"
                     "        return 0;\n    }\n    if (pc1 != 1) /* infeasible */\n        return fail(1);\n"
                     "    if (holder != 1) /* infeasible */\n        return fail(2);\n"
                     f"    if (token != local + {count - 1}) /* infeasible */\n        return fail(3);\n"
                     "    if (__VERIFIER_nondet_int()) {\n        stopped = 1;\n        st1 = 2;\n        return 0;\n    }\n"
                     "    stopped = 0;\n    token = 1;\n    local = token;\n")
        else:
            text += (f"        pc{at} = 1;\n        st{at} = 2;\n        return 0;\n    }}\n    if (pc{at} != 1) /* infeasible */\n        return fail({at}1);\n"
                     f"    if (holder != {at}) /* infeasible */\n        return fail({at}2);\n"
                     f"    if (token == {at}) /* infeasible */\n        return fail({at}3);\n    if (token != {at - 1}) /* infeasible */\n        return fail({at}4);\n    token += 1;\n")
        text += f"    holder = {following};\n    ev{following} = 1;\n    notify();\n    ev{following} = 2;\n    st{at} = 2;\n    return 0;\n}}\n"
    ready = " || ".join(f"st{at} == 0" for at in range(1, count + 1))
    text += f"\nstatic int has_ready(void)\n{{\n    if ({ready})\n        return 1;\n    return 0;\n}}\n"
    # the first process runs last in the first round, so that all wait for their events when the token comes
    text += "\nstatic int eval(void)\n{\n    int go, failed;\n    while (1) {\n        if (!has_ready())\n            return 0;\n"
    for at in [*range(2, count + 1), 1]:
        guard = f"st{at} == 0" if at > 1 else "st1 == 0 && " + " && ".join(f"pc{other} == 1" for other in range(2, count + 1))
        text += (f"        if ({guard}) {{\n            go = __VERIFIER_nondet_int();\n            if (go) {{\n                st{at} = 1;\n"
                 f"                failed = process_{at}();\n                if (failed) /* infeasible */\n                    return failed;\n            }}\n        }}\n")
    text += "        if (st1 == 1) /* infeasible */\n            return fail(100);\n    }\n}\n"
    text += ("\nint ring(void)\n{\n    int failed, left;\n    fire();\n    activate();\n    reset();\n    while (1) {\n        failed = eval();\n        if (failed) /* infeasible */\n            return 1;\n"
             "        fire();\n        activate();\n        reset();\n        left = has_ready();\n        if (left && !stopped) /* infeasible */\n            return 2;\n        if (left && ticks == 100) /* feasible */\n            return 4;\n        ticks = ticks < 100 ? ticks + 1 : 0;\n        if (ticks > 100) /* infeasible */\n            return 3;\n"
             "        if (__VERIFIER_nondet_int())\n            return 0;\n        if (stopped && __VERIFIER_nondet_int())\n            ev1 = 0;\n    }\n}\n")
    return text


if __name__ == "__main__":
    sys.exit(main())
