// Goals, tests and findings: each a list with what is known of the one selected.

const distinct = (list) => [...new Set(list)].map((one) => [one, one]);

function goalView() {
  return listView({
    name: 'goal',
    label: 'Goals',
    items: data.goals,
    empty: 'The criteria ask for nothing here.',
    id: (goal) => goal.id,
    text: (goal) => `goal${goal.id} ${goal.key || ''} ${goal.criterion} ${goal.state}${goal.only_by_crash ? ' only by a crash' : ''} ${goal.function} ${goal.file ? `${baseName(goal.file)}:${goal.line}` : ''} ${goal.demand} ${goal.test || ''} ${goal.reason || ''} ${goal.evidence ? knownBy(goal) : ''}`,
    isOpen: (goal) => goal.state === 'undecided',
    filters: [
      { label: 'any state', options: distinct(data.goals.map((goal) => goal.state)), matches: (goal, state) => goal.state === state },
      { label: 'any criterion', options: distinct(data.goals.map((goal) => goal.criterion)), matches: (goal, criterion) => goal.criterion === criterion },
      { label: 'any function', options: distinct(data.goals.map((goal) => goal.function)), matches: (goal, name) => goal.function === name },
    ],
    row: (goal) => [sign(goal.state), h('span', { class: 'place' }, goal.line === undefined ? '?' : `${goal.line}:${goal.column}`), h('span', { class: 'grow' }, goal.demand),
      h('span', { class: 'faint' }, goal.state === 'covered' ? (goal.only_by_crash ? 'only by a crash' : goal.test.replace(/^.*\/|\.json$/g, '')) : goal.state)],
    detail: (goal) => {
      const tests = (coveredBy.get(goal.id) || []).map((test) => [test, 1]);
      return [
        h('h3', {}, sign(goal.state), ` goal${goal.id}`),
        h('p', { class: 'demand' }, goal.demand),
        h('dl', { class: 'facts' },
          h('dt', {}, 'state'), h('dd', {}, goal.state, goal.only_by_crash && ' only by a crash', goal.reason && `: ${goal.reason}`, isBounded(goal) && ` under: ${goal.evidence.under.join('; ')}`),
          goal.evidence && [h('dt', {}, 'because'), h('dd', {}, argument(goal)), h('dt', {}, 'proof'), h('dd', {}, h('a', { href: `../${goal.evidence.proof}` }, goal.evidence.proof), ', accepted by the checker')],
          goal.key && [h('dt', {}, 'key'), h('dd', {}, h('code', {}, goal.key))],
          h('dt', {}, 'criterion'), h('dd', {}, goal.criterion),
          h('dt', {}, 'where'), h('dd', {}, goal.file ? placeLink(goal.file, goal.line, `${goal.file}:${goal.line}:${goal.column}`) : '?', ` in ${goal.function}`),
          h('dt', {}, 'tests'), h('dd', {}, testLinks(tests))),
        excerpt(goal),
        whyOpen(goal),
      ];
    },
  });
}

const explanationOf = new Map((data.explanations || []).map((one) => [one.id, one]));
/** `a.c:9:9` as a link to its line. */
function spotLink(at) {
  const [, file, line] = at.match(/^(.*):(\d+):\d+$/) || [];
  return file && fileOf.has(file) ? placeLink(file, Number(line), at) : h('span', { class: 'place' }, at);
}
const PROMISES = { solves: 'its value would do', fails: 'its value does not do', open: 'what it does depends on other values' };

/** Why a goal is open: the branch that is in the way, what decides it, and what the search tried. */
function whyOpen(goal) {
  const explanation = explanationOf.get(goal.id);
  if (!explanation || explanation.problems.length === 0) return undefined;
  return h('section', { class: 'why' }, h('h4', {}, 'Why is it open?'), explanation.problems.map((problem) => problemBlock(problem, explanation.tests)));
}

function problemBlock(problem, nTests) {
  const definition = (one) => h('li', {}, h('code', {}, one.variable), ' from ', spotLink(one.at), ' ', one.line && h('code', {}, one.line),
    h('div', { class: 'faint' }, `${one.tests === 0 ? 'no test brings it there' : `brought by ${plural(one.tests, 'test')}`}; ${PROMISES[one.promise]}`));
  const seen = (one) => h('li', {}, h('code', {}, one.variable), ` is ${one.values.join(', ')}${one.more > 0 ? ` and ${plural(one.more, 'other value')}` : ''}`);
  return h('div', { class: 'group problem' },
    h('p', {}, h('span', { class: 'kind' }, 'problem'), ' ', spotLink(problem.at), ' ', h('b', {}, problem.wanted)),
    problem.line && h('pre', { class: 'expression' }, highlighted(problem.line)),
    h('p', {}, `${told(problem.reached)} of ${plural(nTests, 'test')} ${problem.reached === 1 ? 'comes' : 'come'} there.`),
    (problem.values || []).length > 0 && [h('h5', {}, 'Values seen there'), h('ul', { class: 'goals' }, problem.values.map(seen))],
    h('h5', {}, 'Definitions that may decide it'),
    problem.definitions.length > 0 ? h('ul', { class: 'goals' }, problem.definitions.map(definition)) : h('p', { class: 'faint' }, 'No variable with a name decides it.'),
    h('h5', {}, 'What the search tried'), triedBlock(problem.tried),
    problem.sequences.length > 0 && h('details', {}, h('summary', {}, `What would have to happen (${told(problem.sequences.length + problem.more_sequences)})`),
      problem.sequences.map((one) => h('div', {}, chain(one.events, one.events.length),
        one.threats.length > 0 && h('ul', { class: 'goals faint' }, one.threats.map((threat) => h('li', {}, `in between, ${threat}`)))))));
}

/** Events in order; what no run passed is marked. */
function chain(events, nPassed) {
  return h('ol', { class: 'chain' }, events.map((event, index) =>
    h('li', { class: index < nPassed ? 'passed' : 'missing' }, event, index >= nPassed && h('span', { class: 'unseen' }, ' (no run passed it)'))));
}

function triedBlock(tried) {
  if (!tried) return h('p', { class: 'faint' }, 'It followed no event sequences for this branch.');
  return h('div', {},
    h('p', {}, `${plural(tried.sequences, 'event sequence')} in ${plural(tried.runs, 'run')}, ${tried.saturated ? 'all of them to their end' : 'not all of them to their end'}. In brackets: what must keep its value until the next event.`),
    tried.tried.map((one) => h('div', { class: 'fact' }, chain(one.events, one.passed + 1),
      h('div', {}, h('span', { class: 'sign undecided', role: 'img', 'aria-label': 'broke' }, '✂'), ` ${one.broke} (${plural(one.runs, 'run')})`))));
}

/** Why nothing covers a goal, for a person. */
function argument(goal) {
  const known = invariantsOf(goal);
  const how = goal.evidence.how || '';
  if (known.length === 0) return how || 'the conditions on every path to it exclude each other';
  return h('ul', { class: 'goals' }, how && h('li', {}, how), known.map((one) => h('li', {}, 'whenever ', placeLink(one.file, one.line, `${baseName(one.file)}:${one.line}`), ' is reached, ', clauses(one.holds))));
}

/** The lines around a goal. */
function excerpt(goal) {
  const file = data.files[fileOf.get(goal.file)];
  const part = file && file.parts.find((one) => goal.line >= one.first && goal.line < one.first + one.lines.length);
  if (!part) return undefined;
  const from = Math.max(0, goal.line - part.first - 3);
  return h('pre', { class: 'excerpt' }, part.lines.slice(from, goal.line - part.first + 4).map((text, index) => {
    const number = part.first + from + index;
    return h('div', { class: number === goal.line ? 'here' : undefined }, h('span', { class: 'lineno' }, number), highlighted(text));
  }));
}

function goalList(title, ids) {
  if (ids.length === 0) return undefined;
  const shown = 200;
  const line = (id) => {
    const goal = goalById.get(id);
    return goal && h('li', {}, h('a', { class: 'place', href: `#goal/${id}` }, goal.line === undefined ? `goal${id}` : `${goal.line}:${goal.column}`), ' ', goal.demand, h('small', { class: 'faint' }, ` ${goal.criterion}`));
  };
  return h('details', { open: ids.length <= 40 }, h('summary', {}, `${title} (${told(ids.length)})`),
    h('ul', { class: 'goals' }, ids.slice(0, shown).map(line), ids.length > shown && h('li', { class: 'faint' }, `and ${ids.length - shown} more`)));
}

const inputBlock = (test) => h('details', { open: true }, h('summary', {}, 'Input'), h('pre', { class: 'json' }, JSON.stringify(test.input, null, 2)));
/** How it ended, without the place, which is told beside it. */
const endWords = (test) => (test.place ? test.end.replace(/, at \S+$/, '') : test.end);
/** Where its input comes from. */
const fromWords = (test) =>
  (test.provenance ? ` · input: ${test.provenance}` : '') + (test.unchecked ? ' · not checked with sanitizers' : '');
const runDirectory = () => (data.run.result && data.run.result.out) || 'quarry.out';
const replayCommand = (test) => `quarry replay ${quoted(`${runDirectory()}/${test.file}`)}`;

function testView() {
  const ends = distinct(suite.map((test) => test.end));
  return listView({
    name: 'test',
    label: 'Tests',
    items: suite,
    empty: 'The run kept no test.',
    id: (test) => test.name,
    text: (test) => `${test.name} ${test.call} ${test.end} ${test.provenance || ''}`,
    filters: [{ label: 'any end', options: ends, matches: (test, end) => test.end === end }],
    row: (test) => [h('span', { class: 'place' }, test.name), h('code', { class: 'grow' }, test.call || JSON.stringify(test.input)), h('span', { class: 'faint', title: 'goals that no test before it covers' }, `+${test.new.length}`)],
    detail: (test) => [
      h('h3', {}, test.name),
      h('pre', { class: 'expression' }, h('code', {}, test.call)),
      h('p', { class: 'lead' }, `${test.end} · covers ${plural(test.covers.length, 'goal')}, ${test.new.length} of them first${fromWords(test)}`),
      test.unmeasured && h('p', { class: 'warning' }, `It could not be measured: ${test.unmeasured}`),
      inputBlock(test),
      goalList('Covered first by this test', test.new),
      goalList('Also covered by earlier tests', test.covers.filter((goal) => !test.new.includes(goal))),
      h('h4', {}, 'Again'), command(replayCommand(test)),
    ],
  });
}

/** What a sanitizer reports: where, and by which input it is shown. */
function reportDetail(report) {
  const index = data.tests.findIndex((test) => test.file === report.test);
  const test = data.tests[index];
  const program = (test && test.reproducer && test.reproducer.file) || 'tests/replay.c';
  const only = test && !test.reproducer ? ` ${test.name}` : '';
  return [
    h('h3', {}, h('span', { class: 'tag sanitizer' }, 'sanitizer'), ` ${report.what}`),
    h('p', { class: 'demand' }, report.message, report.file && [' · ', placeLink(report.file, report.line, `${baseName(report.file)}:${report.line}:${report.column}`)]),
    report.also && h('p', { class: 'lead' }, `also reported there: ${report.also.join(', ')}`),
    test && h('p', { class: 'lead' }, 'shown by ', testLink(index, 1), report.n_tests > 1 && ` and ${plural(report.n_tests - 1, 'other input')}`),
    test && h('pre', { class: 'expression' }, h('code', {}, test.call)),
    excerpt(report),
    h('h4', {}, 'Reproduce'),
    test && command(replayCommand(test)),
    !data.run.program && command(`cc -g -fsanitize=address,undefined ${quoted(`${runDirectory()}/${program}`)} -o reproduce && ./reproduce${only}`),
  ];
}

function findingView() {
  return listView({
    name: 'finding',
    label: 'Crashes, hangs and what sanitizers report',
    items: findings,
    empty: 'No input made the program crash or hang.',
    id: (test) => test.name,
    text: (test) => (test.kind === 'sanitizer' ? `${test.kind} ${test.what} ${test.message} ${test.file || ''} ${test.test}` : `${test.kind} ${test.name} ${test.call} ${test.end}`),
    filters: [{ label: 'all findings', options: distinct(findings.map((test) => test.kind)), matches: (test, kind) => test.kind === kind }],
    row: (test) => test.kind === 'sanitizer'
      ? [h('span', { class: 'tag sanitizer' }, 'sanitizer'), h('span', { class: 'grow' }, `${test.what}: ${test.message}`), test.file && h('span', { class: 'place' }, `${baseName(test.file)}:${test.line}`), h('span', { class: 'faint' }, test.test.replace(/^.*\/|\.json$/g, ''))]
      : [h('span', { class: `tag ${test.kind}` }, test.kind), h('span', { class: 'grow' }, endWords(test)), test.place && h('span', { class: 'place' }, `${baseName(data.files[test.place.file].path)}:${test.place.line}`), h('span', { class: 'faint' }, test.name)],
    detail: (test) => {
      if (test.kind === 'sanitizer') return reportDetail(test);
      const program = test.reproducer;
      return [
        h('h3', {}, h('span', { class: `tag ${test.kind}` }, test.kind), ` ${test.name}`),
        h('p', { class: 'demand' }, endWords(test), test.place && [' · ', atLink(test.place)], fromWords(test)),
        h('pre', { class: 'expression' }, h('code', {}, test.call)),
        inputBlock(test),
        test.finding && h('p', {}, `${test.finding.kind}: ${test.finding.message}`),
        test.finding && test.finding.stack && h('div', {}, h('h4', {}, 'Calls, innermost first'), h('ol', { class: 'goals' }, test.finding.stack.map((frame) => h('li', {}, h('code', {}, frame.function), ` ${baseName(frame.file)}:${frame.line}:${frame.column}`)))),
        h('h4', {}, 'Reproduce'),
        command(replayCommand(test)),
        program && program.text && h('details', {}, h('summary', {}, `${program.file}: a plain C program`), copyButton(program.text, 'copy'), h('pre', { class: 'program' }, program.text.split('\n').map((text) => [highlighted(text), '\n']))),
        goalList('Covered before the end', test.covers),
      ];
    },
  });
}
