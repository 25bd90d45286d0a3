// What a run comes to: by criterion, by function, over time.

// Without a search there is no reason for its end: tests were imported, or it has not ended.
const unsearched = () =>
  suite.length > 0 && suite.every((test) => test.provenance === 'imported') ? 'imported' : 'running or interrupted';

function overview() {
  const { run } = data;
  const goals = counted(data.goals);
  const result = run.result || {};
  return h('div', { class: 'overview' },
    h('section', { class: 'hero', 'aria-labelledby': 'sum' },
      ring(goals),
      h('div', {},
        h('h2', { id: 'sum' }, `${told(goals.covered)} of ${plural(goals.total - goals.infeasible, 'goal')} covered${goals.infeasible > 0 ? `, ${told(goals.infeasible)} more infeasible` : ''}`),
        h('p', { class: 'lead' }, [
          `by ${plural(suite.length, 'test')}`,
          result.executions !== undefined && ` · ${plural(result.executions, 'execution')}`,
          result.seconds !== undefined && ` in ${seconds(result.seconds)}`,
          ` · ${result.stop === 'complete' && goals.infeasible + goals.bounded > 0 ? 'every goal is covered or infeasible' : STOPS[result.stop] || unsearched()}`,
        ]),
        h('p', { class: 'pills' },
          pill('undecided', goals.undecided, 'undecided', '#goal'),
          pill('crash', data.goals.filter((goal) => goal.only_by_crash).length, 'covered only by a crash', '#goal', 'covered only by a crash'),
          pill('infeasible', goals.infeasible, 'infeasible', '#goal'),
          pill('infeasible', goals.bounded, 'infeasible under assumptions', '#goal', 'infeasible under assumptions'),
          pill('crash', findings.filter((one) => one.kind === 'crash').length, 'crash', '#finding', 'crashes'),
          pill('hang', findings.filter((one) => one.kind === 'hang').length, 'hang', '#finding'),
          pill('sanitizer', reports.length, 'sanitizer report', '#finding')))),
    criteria(),
    confirmed(),
    mutated(),
    curves(),
    functions(),
    about());
}

const STOPS = {
  complete: 'every goal is covered',
  exhausted: 'every candidate was tried',
  budget: 'the time ran out',
  executions: 'the executions ran out',
  interrupted: 'interrupted',
  failed: 'the program could no longer be run',
};
const seconds = (value) => (value === 0 ? '0' : value < 1 ? `${Math.round(value * 1000)} ms` : value < 10 ? `${value.toFixed(1)} s` : value < 120 ? `${Math.round(value)} s` : `${(value / 60).toFixed(1)} min`);
const pill = (state, n, word, href, many) => n > 0 && h('a', { class: `pill ${state}`, href }, h('b', {}, told(n)), ` ${n === 1 ? word : many || (word.endsWith('e') || word.endsWith('d') ? word : word + 's')}`);

function ring(counts) {
  const radius = 52;
  const length = 2 * Math.PI * radius;
  const possible = counts.total - counts.infeasible;
  const part = percent(counts.covered, possible) / 100;
  const circle = (kind, dash) => h('circle', { class: kind, cx: 64, cy: 64, r: radius, 'stroke-dasharray': dash, transform: 'rotate(-90 64 64)' });
  return h('svg', { class: 'ring', viewBox: '0 0 128 128', role: 'img', 'aria-label': `${percentText(counts.covered, possible)} covered` },
    circle('track'), part > 0 && circle('value', `${part * length} ${length}`),
    h('text', { x: 64, y: 71, 'text-anchor': 'middle' }, percentText(counts.covered, possible)));
}

function criteria() {
  const names = [...new Set(data.goals.map((goal) => goal.criterion))];
  const asked = names.map((name) => {
    const counts = counted(data.goals.filter((goal) => goal.criterion === name));
    return card(CRITERIA[name] || name, counts, 'requested');
  });
  const measured = measures(() => true).filter(({ criterion }) => !names.includes(criterion));
  const besides = measured.filter(({ of }) => of > 0).map(({ words, covered, of }) =>
    card(words, { total: of, covered, infeasible: 0, bounded: 0, undecided: of - covered }, 'also measured'));
  return h('section', { 'aria-labelledby': 'criteria' }, h('h3', { id: 'criteria' }, 'By criterion'), h('div', { class: 'cards' }, asked, besides));
}

/** What tools that share no code with Quarry say of the suite. */
function confirmed() {
  if (!confirmation) return undefined;
  const sum = (counts) => Object.values(counts).reduce((all, n) => all + n, 0);
  const line = ([criterion, claims]) => h('tr', {},
    h('th', { scope: 'row' }, CRITERIA[criterion] || criterion),
    h('td', { class: 'number', 'data-label': 'reported as covered' }, told(claims.claimed)),
    h('td', { class: 'number', 'data-label': 'counted' }, h('span', { class: claims.confirmed === claims.claimed ? 'full' : '' }, told(claims.confirmed))),
    h('td', { class: 'number', 'data-label': 'not counted' }, claims.denied > 0 ? h('span', { class: 'zero' }, told(claims.denied)) : '0'),
    h('td', { class: 'number', 'data-label': 'not seen' }, told(sum(claims.unseen))),
    h('td', { class: 'faint' }, Object.entries(claims.unseen).map(([why, n]) => `${told(n)} ${why}`).join(', ')));
  const objections = (state) => confirmation.disagreements.filter((one) => (one.state || 'covered') === state).map((one) => h('li', {}, h('a', { class: 'place', href: `#goal/${one.goal}` }, one.at), ` ${one.demand}`));
  const [denied, reached] = [objections('covered'), objections('infeasible')];
  const notes = [...Object.entries(confirmation.not_asked || {}), ...Object.entries(confirmation.not_run || {})];
  return h('section', { 'aria-labelledby': 'confirmed' }, h('h3', { id: 'confirmed' }, 'On a native build, by llvm-cov'),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'What llvm-cov counts' }, h('table', { class: 'functions' },
      h('thead', {}, h('tr', {}, ['', 'reported as covered', 'counted', 'not counted', 'not seen'].map((head, index) => h('th', { scope: 'col', class: index > 0 ? 'number' : undefined }, head)), h('th', { scope: 'col' }))),
      h('tbody', {}, Object.entries(confirmation.per_criterion).map(line)))),
    denied.length > 0 && h('div', { class: 'warning' }, h('p', {}, 'Called covered, but not counted:'), h('ul', { class: 'goals' }, denied)),
    reached.length > 0 && h('div', { class: 'warning' }, h('p', {}, 'Called infeasible, but counted:'), h('ul', { class: 'goals' }, reached)),
    notes.map(([what, why]) => h('p', { class: 'faint' }, `${what}: ${why}`)));
}

/** Small changes of the code, and which of them no test notices. */
function mutated() {
  const mutation = data.mutation;
  if (!mutation) return undefined;
  const change = (one) => {
    if (one.mutation === 'statement') return [h('code', {}, one.before), ' is left out'];
    if (one.mutation === 'condition') return [h('code', {}, one.before), ` is always ${one.after === '1' ? 'true' : 'false'}`];
    return [h('code', {}, one.before), ' becomes ', h('code', {}, one.after)];
  };
  const reached = (one) => (one.reached === 0 ? 'no test reaches it' : `${one.reached === 1 ? 'one test reaches it' : `${told(one.reached)} tests reach it`}${one.differs === 0 ? ', where it makes no difference' : ''}`);
  const alive = mutation.list.filter((one) => one.state === 'alive');
  const item = (one) => h('li', {}, placeLink(one.file, one.line, `${baseName(one.file)}:${one.line}:${one.column}`), ' ', change(one), h('small', { class: 'faint' }, ` ${reached(one)}`));
  const possible = mutation.mutants - mutation.equivalent;
  const label = `${told(mutation.killed)} of ${told(possible)} mutants killed`;
  const rest = [mutation.equivalent > 0 && `${told(mutation.equivalent)} equivalent`, mutation.undecided > 0 && `${told(mutation.undecided)} undecided`].filter(Boolean).join(', ');
  return h('section', { 'aria-labelledby': 'mutants' }, h('h3', { id: 'mutants' }, 'Small changes of the code'),
    h('p', {}, `${label}, ${told(mutation.alive)} alive`, rest && `, ${rest}`),
    bar({ total: mutation.mutants, covered: mutation.killed, infeasible: mutation.equivalent, bounded: 0, undecided: mutation.alive + (mutation.undecided || 0) }, label),
    alive.length > 0 && h('details', { open: alive.length <= 20 }, h('summary', {}, `${told(alive.length)} that no test notices`), h('ul', { class: 'goals' }, alive.map(item))));
}

function card(words, counts, kind) {
  const possible = counts.total - counts.infeasible;
  const label = `${told(counts.covered)} of ${told(possible)} ${words} covered`;
  return h('div', { class: `card ${kind === 'requested' ? 'asked' : 'besides'}` },
    h('small', { class: 'faint' }, kind), h('div', {}, words),
    h('div', { class: 'figure' }, percentText(counts.covered, possible), h('small', {}, ` ${told(counts.covered)} of ${told(possible)}`)),
    bar(counts, label));
}

/** What the tests do of everything there is in functions for which `counts` holds, asked for or not. */
function measures(counts) {
  const part = (list) => list.filter((item) => counts(item.function));
  const statements = part(data.statements);
  const control = part(data.decisions).filter((decision) => decision.controls);
  const conditions = part(data.decisions).flatMap((decision) => decision.conditions);
  const labels = part(data.switches).flatMap((one) => one.labels);
  const outcomes = (list) => list.flatMap((one) => [outcomeHits(one, true), outcomeHits(one, false)]);
  const shown = part(data.decisions).map(shownOf);
  const sum = (list, index) => list.reduce((all, pair) => all + pair[index], 0);
  const hit = (list) => list.filter((hits) => hits.length > 0).length;
  const branches = [...outcomes(control), ...labels.map((label) => label.hits)];
  const values = conditions.flatMap((condition) => [condition.when_true, condition.when_false]);
  return [
    { criterion: 'statement', words: 'statements', covered: hit(statements.map((one) => one.hits)), of: statements.length },
    { criterion: 'branch', words: 'branches', covered: hit(branches), of: branches.length },
    { criterion: 'condition', words: 'condition outcomes', covered: hit(values), of: values.length },
    { criterion: 'mcdc', words: 'MC/DC effects', covered: sum(shown, 0), of: sum(shown, 1) },
  ];
}

function functions() {
  const cell = (covered, of, words) => h('td', { class: 'number', 'data-label': words },
    of === 0 ? h('span', { class: 'faint' }, '–') : [h('span', { class: covered === of ? 'full' : covered === 0 ? 'zero' : '' }, percentText(covered, of)), h('small', { class: 'faint' }, ` ${told(covered)}/${told(of)}`)]);
  const line = (one, index) => {
    const goals = counted(data.goals.filter((goal) => goal.function === one.name));
    const possible = goals.total - goals.infeasible;
    return h('tr', {},
      h('th', { scope: 'row' }, h('a', { href: `#source/${one.file}/${one.line}` }, one.name), h('small', { class: 'faint' }, ` ${baseName(data.files[one.file].path)}:${one.line}`)),
      h('td', { class: 'wide' }, goals.total > 0 ? bar(goals, `${goals.covered} of ${possible} goals covered`) : h('span', { class: 'faint' }, 'no goals')),
      cell(goals.covered, possible, 'goals'),
      measures((function_) => function_ === index).map(({ covered, of, words }) => cell(covered, of, words)),
      h('td', { class: 'number', 'data-label': 'calls' }, short(total(one.hits))));
  };
  const heads = ['goals', 'statements', 'branches', 'conditions', 'MC/DC', 'calls'];
  return h('section', { 'aria-labelledby': 'functions' }, h('h3', { id: 'functions' }, 'By function'),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Functions' }, h('table', { class: 'functions' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'function'), h('th', { scope: 'col', class: 'wide' }), heads.map((head) => h('th', { scope: 'col', class: 'number' }, head)))),
      h('tbody', {}, data.functions.map(line)))));
}

function curves() {
  if (data.timeline.length < 2) return undefined;
  return h('section', { 'aria-labelledby': 'growth' }, h('h3', { id: 'growth' }, 'How coverage grew'),
    h('div', { class: 'curves' },
      curve('over time', (point) => point.seconds, (value) => seconds(value)),
      curve('over executions', (point) => point.executions, (value) => told(Math.round(value)))));
}

/** A step curve of covered goals. The axis is logarithmic where most happens early. */
function curve(words, position, format) {
  const [width, height, left, bottom, top, right] = [560, 220, 44, 30, 14, 18];
  const points = data.timeline;
  const most = Math.max(...points.map(position), 1e-3);
  const goals = Math.max(data.goals.length, 1);
  const half = points.find((point) => point.covered * 2 >= points.at(-1).covered);
  const steep = position(half) < most / 20;
  const base = most / 1000;
  const scale = (value) => (steep ? Math.log1p(value / base) / Math.log1p(most / base) : value / most);
  const x = (value) => left + scale(value) * (width - left - right);
  const y = (covered) => height - bottom - (covered / goals) * (height - bottom - top);
  let path = `M${x(position(points[0]))},${y(0)}`;
  for (const point of points) path += `H${x(position(point)).toFixed(1)}V${y(point.covered).toFixed(1)}`;
  const area = `${path}V${y(0)}Z`;
  const ticks = steep ? [most / 1000, most / 100, most / 10, most] : [0, most / 4, most / 2, (most * 3) / 4, most];
  const rows = [...new Set([0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * goals)))];
  const found = points.filter((point, index) => index > 0 && point.findings > points[index - 1].findings);
  const last = points.at(-1);
  return h('figure', { class: 'curve' },
    h('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Covered goals ${words}: ${last.covered} of ${goals} at ${format(position(last))}` },
      rows.map((covered) => h('g', {}, h('line', { class: 'grid', x1: left, x2: width - right, y1: y(covered), y2: y(covered) }), h('text', { x: left - 8, y: y(covered) + 4, 'text-anchor': 'end' }, short(covered)))),
      ticks.map((value, index) => h('text', { x: x(value), y: height - 10, 'text-anchor': index === ticks.length - 1 ? 'end' : 'middle' }, format(value))),
      h('path', { class: 'area', d: area }), h('path', { class: 'line', d: path }),
      found.map((point) => h('circle', { class: 'found', cx: x(position(point)), cy: y(point.covered), r: 4 }, h('title', {}, `a crash or hang at ${format(position(point))}`))),
      points.length <= 400 && points.map((point) => h('circle', { class: 'dot', cx: x(position(point)), cy: y(point.covered), r: 7 }, h('title', {}, `${point.covered} goals at ${seconds(point.seconds)}, ${plural(point.executions, 'execution')}`)))),
    h('figcaption', {}, `covered goals ${words}`, steep && h('small', { class: 'faint' }, ' (logarithmic)')));
}

function about() {
  const { run } = data;
  const queries = run.result && run.result.queries;
  const rows = [
    ['command', h('code', {}, run.command.map((word, index) => (index === 0 ? baseName(word) : quoted(word))).join(' '))],
    ['started in', h('code', {}, run.directory)],
    ['search', `strategy ${run.strategy}, seed ${run.seed}, ${plural(run.jobs, 'worker')}, solver ${run.solver}`],
    queries && ['queries', `${told(queries.sat)} satisfiable, ${told(queries.unsat)} unsatisfiable, ${told(queries.unknown)} not decided`],
    run.result && run.result.divergences > 0 && ['divergences', `${run.result.divergences} executions left their predicted path`],
    run.assume.length > 0 && ['assumed', run.assume.map((one) => h('div', {}, h('code', {}, one)))],
    run.stubs.length > 0 && ['stubs', run.stubs.map((stub) => h('div', {}, h('code', {}, stub.prototype), ` ${stub.does}`))],
    run.gaps.length > 0 && ['not supported', run.gaps.map((gap) => h('div', {}, `${gap.kind}: ${gap.what} `, h('span', { class: 'faint' }, gap.at)))],
    ['Quarry', run.quarry],
  ].filter(Boolean);
  return h('section', { 'aria-labelledby': 'about' }, h('h3', { id: 'about' }, 'The run'),
    h('dl', { class: 'facts' }, rows.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])));
}
