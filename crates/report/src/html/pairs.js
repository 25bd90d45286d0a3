// Def-use pairs: what is known of them, and the list of them. A pair is a goal with a definition and a use.

const pairs = data.goals.filter((goal) => goal.definition && goal.use && goal.line !== undefined);
const STROKES = { covered: 'solid', undecided: 'dashed', infeasible: 'dotted' };
/** Pairs on a line that are listed beside it. */
const MOST_LISTED = 60;

const lineAndColumn = (place) => `${place.line}:${place.column}`;
/** Variables of different functions are different, whatever they are called. */
const variableKey = (pair) => `${pair.function} ${pair.variable}`;
const testName = (pair) => pair.test.replace(/^.*\/|\.json$/g, '');
const fate = (pair) => (pair.state === 'covered' && pair.test ? testName(pair) : pair.evidence ? `infeasible: ${knownBy(pair)}` : pair.reason || pair.state);
const spent = (search) => `${plural(search.executions, 'execution')}, ${search.seconds.toFixed(search.seconds < 10 ? 2 : 0)} s`;
/** To the line of one end, with the arc to the other. */
const endLink = (pair, place) =>
  fileOf.has(place.file) ? h('a', { class: 'place', href: `#source/${fileOf.get(place.file)}/${place.line}/${pair.id}` }, `${place.file}:${lineAndColumn(place)}`) : h('span', { class: 'place' }, `${place.file}:${lineAndColumn(place)}`);
/** Where a definition is, seen from its use. */
const definitionPlace = (pair) => (pair.definition.file === pair.file ? '' : `${baseName(pair.definition.file)}:`) + lineAndColumn(pair.definition);

function pairView() {
  const chosen = (label, of) => ({ label, options: distinct(pairs.map(of)), matches: (pair, value) => of(pair) === value });
  const cell = (name, said, text) => h('span', { class: name }, said && h('span', { class: 'unseen' }, said), text);
  return listView({
    name: 'pair',
    label: 'Def-use pairs',
    items: pairs,
    empty: 'There are no def-use pairs.',
    id: (pair) => pair.id,
    text: (pair) => `goal${pair.id} ${pair.variable} ${definitionPlace(pair)} ${baseName(pair.file)}:${lineAndColumn(pair)} ${pair.use} ${pair.state} ${pair.function} ${pair.test || ''} ${pair.reason || ''}`,
    isOpen: (pair) => pair.state === 'undecided',
    filters: [
      chosen('any state', (pair) => pair.state),
      chosen('any variable', (pair) => pair.variable),
      chosen('any use', (pair) => pair.use),
      chosen('any function', (pair) => pair.function),
    ],
    heads: [['', ''], ['variable', 'variable'], ['end', 'definition'], ['end', 'use'], ['use-kind', 'kind'], ['fate', 'test or reason'], ['spent', 'spent']],
    row: (pair) => [
      sign(pair.state), h('code', { class: 'variable', title: pair.variable }, pair.variable),
      cell('end', 'defined at ', definitionPlace(pair)), cell('end', 'used at ', lineAndColumn(pair)), cell('use-kind', '', pair.use),
      h('span', { class: 'fate', title: fate(pair) }, fate(pair)), cell('spent', 'spent: ', pair.search ? plural(pair.search.executions, 'run') : ''),
    ],
    detail: pairDetail,
  });
}

function pairDetail(pair) {
  const tests = (coveredBy.get(pair.id) || []).map((test) => [test, 1]);
  return [
    h('h3', {}, sign(pair.state), ' ', h('code', {}, pair.variable), ` ${definitionPlace(pair)} → ${lineAndColumn(pair)}`),
    h('dl', { class: 'facts' },
      h('dt', {}, 'state'), h('dd', {}, pair.state, pair.reason && `: ${pair.reason}`),
      h('dt', {}, 'definition'), h('dd', {}, endLink(pair, pair.definition)),
      h('dt', {}, 'use'), h('dd', {}, endLink(pair, pair), ` in ${pair.function}`),
      h('dt', {}, 'kind'), h('dd', {}, pair.use, h('span', { class: 'faint' }, pair.use === 'p-use' ? ': takes part in a condition' : ': computes a value')),
      h('dt', {}, 'tests'), h('dd', {}, testLinks(tests)),
      h('dt', {}, 'spent'), h('dd', {}, pair.search ? spent(pair.search) : h('span', { class: 'faint' }, 'the search did not aim at it')),
      h('dt', {}, 'goal'), h('dd', {}, h('a', { href: `#goal/${pair.id}` }, `goal${pair.id}`), ` of ${pair.criterion}`)),
    h('h4', {}, 'Definition'), excerpt(pair.definition),
    h('h4', {}, 'Use'), excerpt(pair),
  ];
}

/** The pairs with an end on a line, for the detail of that line; `light` is told which of them is looked at. */
function pairsOnLine(number, here, light) {
  if (here.length === 0) return undefined;
  const item = (pair) => {
    const at = (place) => (place.file !== pair.file ? `${baseName(place.file)}:${place.line}` : place.line);
    return h('li', { mouseenter: () => light(pair.id), mouseleave: () => light(), focusin: () => light(pair.id), focusout: () => light() },
      sign(pair.state), ' ', h('code', {}, pair.variable), ' ',
      h('a', { class: 'place', href: `#pair/${pair.id}`, 'aria-label': `${pair.variable}, defined on line ${at(pair.definition)}, used on line ${at(pair)}` }, `${at(pair.definition)} → ${at(pair)}`),
      h('small', { class: 'faint' }, ` ${pair.use} · ${fate(pair)}`));
  };
  const open = here.filter((pair) => pair.state !== 'covered');
  const listed = [...open, ...here.filter((pair) => pair.state === 'covered')].slice(0, MOST_LISTED);
  return h('div', { class: 'group' },
    h('div', {}, h('span', { class: 'kind' }, plural(here.length, 'def-use pair')), open.length > 0 && h('small', { class: 'faint' }, ` ${told(open.length)} not covered`)),
    h('ul', { class: 'goals' }, listed.map(item), here.length > listed.length && h('li', { class: 'faint' }, `and ${told(here.length - listed.length)} more`)));
}
