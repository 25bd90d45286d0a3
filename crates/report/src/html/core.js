// The page's data, the words for it, and small means to make elements. All text goes through text nodes.

const data = JSON.parse(document.getElementById('data').textContent);
const main = document.getElementById('main');

/** An element with attributes and children; functions become listeners, missing children are left out. */
function h(tag, attributes, ...children) {
  const svg = ['svg', 'path', 'line', 'text', 'g', 'rect', 'circle', 'title'].includes(tag);
  const element = svg ? document.createElementNS('http' + '://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(4).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** 12345 as 12,345, everywhere. */
const told = (n) => n.toLocaleString('en');
const plural = (n, word, many) => `${told(n)} ${n === 1 ? word : many || word + 's'}`;
const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);
const total = (hits) => hits.reduce((sum, [, n]) => sum + n, 0);
const percent = (part, whole) => (whole === 0 ? 100 : (100 * part) / whole);
/** 66.7 %, and never 100 % when something is missing. */
function percentText(part, whole) {
  const value = percent(part, whole);
  const text = value === 100 ? '100' : Math.min(value, 99.9).toFixed(value === 0 ? 0 : 1);
  return `${text} %`;
}
/** 1,234 as 1.2k. */
function short(n) {
  if (n < 1000) return String(n);
  const [unit, size] = n < 1e6 ? ['k', 1e3] : n < 1e9 ? ['M', 1e6] : ['G', 1e9];
  return (n / size).toFixed(n / size < 10 ? 1 : 0).replace(/\.0$/, '') + unit;
}

// --- what is known of decisions, conditions and goals ---

const CRITERIA = {
  function: 'functions',
  statement: 'statements',
  branch: 'branches',
  'gcov-branch': 'gcov branches',
  decision: 'decision outcomes',
  condition: 'condition outcomes',
  'condition-decision': 'condition and decision outcomes',
  mcdc: 'MC/DC obligations',
  'multiple-condition': 'vectors',
  boundary: 'boundaries',
  'all-defs': 'definitions',
  'all-uses': 'uses',
  'def-use': 'def-use pairs',
};
const STATES = {
  both: { sign: '●', say: 'both outcomes covered' },
  one: { sign: '◐', say: 'one outcome covered' },
  none: { sign: '○', say: 'not covered' },
  covered: { sign: '●', say: 'covered' },
  undecided: { sign: '○', say: 'undecided' },
  infeasible: { sign: '∅', say: 'infeasible' },
};

const sides = (a, b) => (a && b ? 'both' : a || b ? 'one' : 'none');
const conditionState = (condition) => sides(condition.when_true.length > 0, condition.when_false.length > 0);
const outcomeHits = (decision, outcome) => {
  const sum = new Map();
  for (const vector of decision.vectors) {
    if (vector.outcome !== outcome) continue;
    for (const [test, n] of vector.hits) sum.set(test, (sum.get(test) || 0) + n);
  }
  return [...sum].sort((a, b) => a[0] - b[0]);
};
const decisionState = (decision) => sides(outcomeHits(decision, true).length, outcomeHits(decision, false).length);
const uniqueCause = data.run.mcdc === 'unique-cause';
const isShown = (condition, obligation) =>
  uniqueCause ? condition.pairs.some((pair) => pair.unique_cause) : obligation.shown_by.length > 0;
/** Whether a proof holds only within limits of the input model. */
const isBounded = (goal) => ((goal.evidence && goal.evidence.under) || []).length > 0;
/** How it is known that a goal is infeasible. */
const knownBy = ({ evidence }) => [`proof ${evidence.proof}`, isBounded({ evidence }) && `under: ${evidence.under.join('; ')}`].filter(Boolean).join(', ');
/** What a proof relies on at places of the source. */
const invariantsOf = (goal) => (goal.evidence && goal.evidence.invariants) || [];
/** `i <= n` and `n <= 9`. */
const clauses = (holds) => holds.flatMap((clause, index) => [index > 0 && ' and ', h('code', {}, clause)]);
const obligationKey = (file, line, column, demand) => `${file}:${line}:${column} ${demand}`;
/** MC/DC obligations that were proved infeasible, by place and demand. */
const infeasibleObligations = new Map(data.goals.filter((goal) => goal.criterion === 'mcdc' && goal.state === 'infeasible')
  .map((goal) => [obligationKey(goal.file, goal.line, goal.column, goal.demand), goal]));
const infeasibleGoal = (decision, condition, obligation) => infeasibleObligations.get(
  obligationKey(data.files[condition.file].path, condition.line, condition.column, `(${condition.text}) being ${obligation.value} decides (${decision.text})`));
/** MC/DC obligations that the tests show, and how many could be shown. */
function shownOf(decision) {
  const all = decision.conditions.flatMap((condition) => condition.obligations.map((one) => [isShown(condition, one), infeasibleGoal(decision, condition, one)]));
  const feasible = all.filter(([, goal]) => !goal || isBounded(goal));
  return [feasible.filter(([shown]) => shown).length, feasible.length];
}
/** All, some or none of the obligations that could be shown. */
function mcdcState(decision) {
  const [shown, asked] = shownOf(decision);
  if (asked === 0 && decision.conditions.some((condition) => condition.obligations.length > 0)) return 'infeasible';
  return shown === asked ? 'both' : shown > 0 ? 'one' : 'none';
}

const coveredBy = new Map();
data.tests.forEach((test, index) => {
  for (const goal of test.covers) {
    if (!coveredBy.has(goal)) coveredBy.set(goal, []);
    coveredBy.get(goal).push(index);
  }
});
const goalById = new Map(data.goals.map((goal) => [goal.id, goal]));
const fileOf = new Map(data.files.map((file, index) => [file.path, index]));
const confirmation = data.run.confirmation;
/** What sanitizers report, beside inputs that crash or hang. */
const reports = ((confirmation && confirmation.findings) || []).map((one, index) => ({ ...one, what: one.kind, kind: 'sanitizer', name: `report-${index + 1}` }));
const findings = [...data.tests.filter((test) => test.kind !== 'test' && !(test.finding && test.finding.same_as)), ...reports];
const suite = data.tests.filter((test) => test.kind === 'test');
const decisions = data.decisions.map((decision, index) => ({ ...decision, index }));

function counted(goals) {
  const counts = { total: goals.length, covered: 0, infeasible: 0, bounded: 0, undecided: 0 };
  for (const goal of goals) counts[goal.state === 'infeasible' && isBounded(goal) ? 'bounded' : goal.state] += 1;
  return counts;
}

// --- pieces that several views use ---

const sign = (state) =>
  h('span', { class: `sign ${state}`, title: STATES[state].say, role: 'img', 'aria-label': STATES[state].say }, STATES[state].sign);

/** A bar of covered, infeasible and undecided goals. */
function bar(counts, label) {
  const part = (state) => h('i', { class: state, style: `width:${percent(counts[state], counts.total || 1)}%` });
  return h('span', { class: 'bar', role: 'img', 'aria-label': label }, ['covered', 'infeasible', 'bounded', 'undecided'].filter((state) => counts[state] > 0).map(part));
}

const testLink = (index, n) => {
  const test = data.tests[index];
  const where = test.kind === 'test' ? 'test' : 'finding';
  return h('a', { class: `chip ${test.kind}`, href: `#${where}/${test.name}`, title: test.call }, test.name, n > 1 && h('small', {}, ` ×${short(n)}`));
};

/** The tests behind hits, the first few at once. */
function testLinks(hits, most = 8) {
  if (hits.length === 0) return h('span', { class: 'faint' }, 'no test');
  const links = hits.slice(0, most).map(([test, n]) => testLink(test, n));
  const rest = hits.slice(most);
  if (rest.length === 0) return h('span', { class: 'chips' }, links);
  const more = h('button', { class: 'chip more', click: () => more.replaceWith(...rest.map(([test, n]) => testLink(test, n))) }, `${rest.length} more`);
  return h('span', { class: 'chips' }, links, more);
}

const placeLink = (file, line, text) =>
  fileOf.has(file) ? h('a', { class: 'place', href: `#source/${fileOf.get(file)}/${line}` }, text || `${baseName(file)}:${line}`) : h('span', { class: 'place' }, text || `${baseName(file)}:${line}`);
const atLink = (at) => placeLink(data.files[at.file].path, at.line, `${baseName(data.files[at.file].path)}:${at.line}:${at.column}`);

function copyButton(text, label) {
  const button = h('button', { class: 'copy', click: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'copied';
    } catch {
      button.textContent = 'cannot copy here';
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  } }, label);
  return button;
}

/** Tells those who do not see it. */
function announce(text) {
  document.getElementById('said').textContent = text;
}

const command = (text) => h('div', { class: 'command' }, h('code', {}, text), copyButton(text, 'copy'));
const quoted = (word) => (/^[\w./=:,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
