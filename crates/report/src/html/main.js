// Which view is shown, its address, and keys.

const VIEWS = [
  { name: 'overview', title: 'Overview' },
  { name: 'source', title: 'Source', make: sourceView },
  { name: 'decision', title: 'Decisions', make: decisionView, count: data.decisions.length },
  { name: 'goal', title: 'Goals', make: goalView, count: data.goals.length },
  { name: 'test', title: 'Tests', make: testView, count: suite.length },
  { name: 'finding', title: 'Findings', make: findingView, count: findings.length, alarm: findings.length > 0 },
  // last, so that the others have the same keys in every report
  ...(pairs.length > 0 ? [{ name: 'pair', title: 'Pairs', make: pairView, count: pairs.length }] : []),
  ...(data.versions ? [{ name: 'versions', title: 'Versions', make: versionsView, count: data.differences ? data.differences.differences.length : undefined, alarm: data.differences && data.differences.differences.length > 0 }] : []),
];
const made = new Map();
let view;

function frame() {
  const { run } = data;
  document.getElementById('top').append(
    h('div', { class: 'brand' }, 'quarry'),
    h('h1', {}, h('code', {}, run.function), h('small', {}, ` ${run.given.map(baseName).join(', ')}`)),
    h('button', { class: 'keys-button', click: () => document.getElementById('help').showModal(), 'aria-label': 'Keys' }, '?'));
  document.getElementById('views').append(...VIEWS.map((one, index) =>
    h('a', { href: `#${one.name}`, 'data-view': one.name, title: `key ${index + 1}` }, one.title, one.count !== undefined && h('small', { class: one.alarm ? 'alarm' : undefined }, told(one.count)))));
}

function show() {
  const parts = decodeURIComponent(location.hash.slice(1)).split('/');
  if (parts[0] === 'main') return;
  const known = VIEWS.find((one) => one.name === parts[0]) || VIEWS[0];
  document.querySelectorAll('#views a').forEach((link) => {
    if (link.dataset.view === known.name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  });
  document.title = `${known.title} · ${data.run.function} · Quarry`;
  document.body.dataset.view = known.name;
  if (!known.make) {
    view = undefined;
    main.replaceChildren(overview());
    window.scrollTo(0, 0);
    return;
  }
  // the source keeps its place; lists are made anew, because they are cheap
  view = known.name === 'source' && made.get(known.name) ? made.get(known.name) : known.make();
  made.set(known.name, view);
  main.replaceChildren(view.element);
  view.start(...parts.slice(1));
  view.focus();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById('help').open) return;
  const writing = event.target.closest('input, select, textarea');
  if (writing) {
    if (event.key === 'Escape' || (event.key === 'Enter' && writing.type === 'search')) {
      event.preventDefault();
      if (view) view.focus();
    }
    return;
  }
  const actions = {
    j: () => view && view.move(1),
    k: () => view && view.move(-1),
    ArrowDown: () => view && view.move(1),
    ArrowUp: () => view && view.move(-1),
    n: () => view && view.seek(1),
    p: () => view && view.seek(-1),
    v: () => view && view.variable && view.variable(),
    '/': () => view && view.filter(),
    '?': () => document.getElementById('help').showModal(),
  };
  const inList = event.target === main || event.target === document.body || event.target.getAttribute('role') === 'listbox';
  if (event.key === 'Enter' && inList && view) {
    event.preventDefault();
    view.open();
  } else if (/^[1-8]$/.test(event.key) && VIEWS[Number(event.key) - 1]) {
    location.hash = VIEWS[Number(event.key) - 1].name;
  } else if (event.key in actions && !(event.key.startsWith('Arrow') && !view)) {
    event.preventDefault();
    actions[event.key]();
  }
}

frame();
window.addEventListener('hashchange', show);
document.addEventListener('keydown', onKey);
show();
