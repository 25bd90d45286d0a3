// Two versions side by side: what changed, what that may affect, and inputs on which they differ.

/** By line of a version of a function: what happened to it. */
function changesByLine(change, side) {
  const lines = new Map();
  for (const item of change.items) {
    const at = item[side];
    if (at) lines.set(at.line, item.change);
  }
  return lines;
}

/** By line: why it is impacted, and whether a test executes it. */
function impactsOf(change) {
  const impacts = new Map();
  for (const item of data.versions.impacted) {
    if (item.function === change.function) impacts.set(item.line, item);
  }
  return impacts;
}

/** Lines of the new version with a goal that is covered. */
function coveredLines(file) {
  const covered = new Set();
  for (const goal of data.goals) if (goal.file === file && goal.state === 'covered') covered.add(goal.line);
  return covered;
}

function versionLines(source, changes, impacts, covered) {
  if (!source || source.lines.length === 0) return h('p', { class: 'faint' }, source ? 'the source is not there any more' : 'not in this version');
  return h('table', { class: 'version' }, source.lines.map((text, index) => {
    const line = source.first + index;
    const impact = impacts && impacts.get(line);
    const state = changes.get(line) || (impact && impact.state) || '';
    const why = [state, impact && impact.reason, covered && covered.has(line) && 'covered'].filter(Boolean).join(': ');
    return h('tr', { class: state, title: why || undefined },
      h('td', { class: 'number' }, String(line)),
      h('td', { class: 'mark' }, { changed: '~', added: '+', removed: '−', moved: '>', impacted: '!' }[state] || ''),
      covered && h('td', { class: 'mark' }, covered.has(line) ? '●' : ''),
      h('td', {}, h('code', {}, text)));
  }));
}

function versionSection(change) {
  const name = change.renamed_from ? `${change.function}, was ${change.renamed_from}` : change.function;
  const newSource = change.new_source;
  return h('section', {},
    h('h2', {}, h('code', {}, name), h('small', {}, ` ${change.change}${change.signature ? ', another signature' : ''}`)),
    h('div', { class: 'versions' },
      versionLines(change.old_source, changesByLine(change, 'old')),
      versionLines(newSource, changesByLine(change, 'new'), impactsOf(change), coveredLines(newSource && newSource.file))));
}

function differencesSection() {
  const found = data.differences;
  if (!found) return undefined;
  const value = ({ what, old, new: now }) => h('li', {}, h('code', {}, what), ': ', h('code', {}, now), ', was ', h('code', {}, old));
  const one = (difference) => h('div', { class: 'card' },
    h('p', {}, h('code', {}, difference.call)),
    h('ul', {}, difference.what.map(value)));
  const none = `no difference found within ${plural(found.compared, 'input')} run on both versions${found.search ? ` and ${plural(found.search.executions, 'execution')} of a search` : ''}`;
  return h('section', {},
    h('h2', {}, found.differences.length > 0 ? plural(found.differences.length, 'difference') : 'Differences'),
    found.differences.length > 0 ? found.differences.map(one) : h('p', {}, none),
    (found.not_compared || []).map((reason) => h('p', { class: 'faint' }, `not compared: ${reason}`)));
}

function versionsView() {
  const { versions } = data;
  const element = h('div', { class: 'overview' },
    h('p', {}, `${versions.old} → ${versions.new}: ${plural(versions.n_impacted, 'statement')} changed or impacted`),
    differencesSection(),
    versions.changes.map(versionSection));
  const nothing = () => {};
  return { element, start: nothing, focus: nothing, move: nothing, seek: nothing, filter: nothing, open: nothing };
}
