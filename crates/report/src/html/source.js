// The source with what the tests do in it: hits in the margin, conditions in the text, and beside it what is known of a line.

const LINES_AT_ONCE = 150;

function sourceView() {
  let file = 0;
  let current = 0;
  let marks = new Map();
  let comments = new Set();
  /** The pair whose arc is drawn, from an address. */
  let pair;
  const code = h('div', { class: 'code', role: 'listbox', tabindex: '0', 'aria-label': 'Source lines', keydown: onKey });
  const side = h('section', { class: 'detail', 'aria-label': 'Selected line', tabindex: '-1' });
  const files = h('select', { 'aria-label': 'File', change: () => open(Number(files.value), 1) }, data.files.map((one, index) => h('option', { value: index }, one.path)));
  const jump = h('select', { 'aria-label': 'Function', change: () => { const one = data.functions[Number(jump.value)]; open(one.file, one.line); } });
  const legend = h('span', { class: 'legend' }, ['both', 'one', 'none', ...(data.goals.some((goal) => goal.state === 'infeasible') ? ['infeasible'] : [])].map((state) => h('span', {}, sign(state), ` ${STATES[state].say}`)),
    Object.keys(STROKES).filter((state) => pairs.some((one) => one.state === state)).map(arcSample));
  const variables = h('select', { 'aria-label': 'Arcs of def-use pairs', change: () => { pair = undefined; drawArcs(); } });
  const left = h('span', { class: 'count' });
  const arcs = arcLayer(code, middle);
  const element = h('div', { class: 'split source-view' },
    h('div', { class: 'list-pane' }, h('div', { class: 'tools' }, data.files.length > 1 ? files : h('b', {}, data.files.map((one) => one.path)), jump, pairs.length > 0 && [variables, left], legend), code), side);

  /** What stands on each line of the file. */
  function gather() {
    const on = new Map();
    const at = (line) => {
      if (!on.has(line)) on.set(line, { statements: [], decisions: [], labels: [], functions: [], conditions: [], pairs: [], goals: [], invariants: [] });
      return on.get(line);
    };
    const here = (item) => item.file === file;
    data.functions.filter(here).forEach((one) => at(one.line).functions.push(one));
    data.statements.filter(here).forEach((one) => at(one.line).statements.push(one));
    decisions.forEach((decision) => {
      if (here(decision)) at(decision.line).decisions.push(decision);
      decision.conditions.forEach((condition, index) => {
        if (here(condition)) at(condition.line).conditions.push({ decision, condition, index });
      });
    });
    data.switches.forEach((one) => one.labels.filter(here).forEach((label) => at(label.line).labels.push({ ...label, of: one.text })));
    const path = data.files[file].path;
    for (const one of pairs) {
      const ends = [one.definition, one].filter((end) => end.file === path).map((end) => end.line);
      for (const number of new Set(ends)) at(number).pairs.push(one);
    }
    for (const goal of data.goals) if (goal.file === path && on.has(goal.line)) on.get(goal.line).goals.push(goal);
    for (const goal of data.goals) {
      for (const known of invariantsOf(goal)) if (known.file === path && on.has(known.line)) on.get(known.line).invariants.push({ goal, holds: known.holds });
    }
    return on;
  }

  function lineState(on) {
    const states = [
      ...on.statements.map((one) => (one.hits.length > 0 ? 'both' : 'none')),
      ...on.conditions.map(({ condition }) => conditionState(condition)),
      ...on.labels.map((label) => (label.hits.length > 0 ? 'both' : 'none')),
      ...on.functions.map((one) => (one.hits.length > 0 ? 'both' : 'none')),
    ];
    if (states.length === 0) return undefined;
    if (states.every((state) => state === 'both')) return 'both';
    // nothing is left to cover here that could be
    if (on.goals.some((goal) => goal.state === 'infeasible') && on.goals.every((goal) => goal.state !== 'undecided')) return 'infeasible';
    return states.every((state) => state === 'none') ? 'none' : 'one';
  }

  const lineHits = (on) => {
    const counts = [
      ...on.functions.map((one) => total(one.hits)),
      ...on.statements.map((one) => total(one.hits)),
      ...on.conditions.map(({ condition }) => total(condition.when_true) + total(condition.when_false)),
      ...on.labels.map((label) => total(label.hits)),
    ];
    return counts.length === 0 ? undefined : Math.max(...counts);
  };

  /** The text of a line, with its conditions marked. */
  function marked(text, number) {
    const on = marks.get(number);
    if (!on || on.conditions.length === 0) return highlighted(text, comments.has(number));
    const bytes = !/^[\x00-\x7f]*$/.test(text);
    const place = (column) => (bytes ? new TextDecoder().decode(new TextEncoder().encode(text).slice(0, column - 1)).length : column - 1);
    const spans = new Map();
    for (const { condition } of on.conditions) {
      const start = place(condition.column);
      const end = condition.end === null ? start + reach(text.slice(start)) : condition.end[0] === number ? place(condition.end[1]) : text.length;
      const known = spans.get(start);
      if (known) {
        known.end = Math.max(known.end, end);
        known.conditions.push(condition);
      } else spans.set(start, { start, end, conditions: [condition] });
    }
    return nested([...spans.values()].sort((a, b) => a.start - b.start || b.end - a.end), text, 0, text.length);
  }

  /** How long a condition is that has macros in it: until an operator, or a parenthesis around it, ends it. */
  function reach(text) {
    let depth = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (text[at] === '(') depth += 1;
      if (text[at] === ')') depth -= 1;
      const ends = depth < 0 || (depth === 0 && (/^(&&|\|\||[?;,{])/.test(text.slice(at, at + 2)) || text.startsWith('/*', at)));
      if (ends) return text.slice(0, at).trimEnd().length || 1;
    }
    return text.trimEnd().length;
  }

  /** Whether an outcome of conditions was seen, could not be, or is missing. */
  function outcomeClass(span, value, hits) {
    if (hits > 0) return 'yes';
    const isNever = (one) => data.goals.some((goal) => goal.state === 'infeasible' && data.files[one.file].path === goal.file && goal.line === one.line && goal.column === one.column && goal.demand === `(${one.text}) is ${value}`);
    return span.conditions.every(isNever) ? 'never' : 'no';
  }

  function nested(spans, text, from, to) {
    const parts = [];
    let at = from;
    while (spans.length > 0 && spans[0].start < to) {
      const span = spans.shift();
      if (span.start < at) continue;
      const end = Math.min(span.end, to);
      parts.push(highlighted(text.slice(at, span.start)));
      const states = span.conditions.map(conditionState);
      const state = states.every((one) => one === states[0]) ? states[0] : 'one';
      const trues = span.conditions.reduce((sum, one) => sum + total(one.when_true), 0);
      const falses = span.conditions.reduce((sum, one) => sum + total(one.when_false), 0);
      parts.push(h('span', { class: `condition ${state}`, title: `true ×${trues}, false ×${falses}` }, nested(spans, text, span.start, end),
        h('span', { class: 'sides', 'aria-hidden': 'true' }, h('i', { class: outcomeClass(span, true, trues) }, 'T'), h('i', { class: outcomeClass(span, false, falses) }, 'F'))));
      at = end;
    }
    parts.push(highlighted(text.slice(at, to)));
    return parts;
  }

  function line(text, number) {
    const on = marks.get(number);
    const state = on && lineState(on);
    const hits = on && lineHits(on);
    return h('div', { class: `line ${state || 'plain'}`, role: 'option', id: `line-${number}`, 'aria-selected': 'false', click: () => { select(number, true); code.focus({ preventScroll: true }); } },
      h('span', { class: 'hits' }, hits === undefined ? '' : hits === 0 ? '0' : short(hits)),
      h('span', { class: 'flag' }, state && sign(state)),
      h('span', { class: 'lineno' }, number),
      h('span', { class: 'margin' }),
      h('span', { class: 'text' }, marked(text, number)));
  }

  /** The middle of a line, from the top of the source. */
  function middle(number) {
    const made = document.getElementById(`line-${number}`);
    if (made) return made.offsetTop + made.offsetHeight / 2;
    const block = [...code.querySelectorAll('.block')].find((one) => number >= one.first && number < one.first + one.lines.length);
    return block && block.offsetTop + ((number - block.first + 0.5) * block.offsetHeight) / block.lines.length;
  }

  /** The pairs that are asked for: one from an address, those of the variable chosen, or those with an end on this line. */
  function asked() {
    const path = data.files[file].path;
    const within = (one) => one.file === path && one.definition.file === path;
    if (pair) return [pair].filter(within);
    if (variables.value !== '') return pairs.filter((one) => variableKey(one) === variables.value && within(one));
    const on = marks.get(current);
    return on ? on.pairs.filter(within) : [];
  }

  function drawArcs() {
    const margin = code.querySelector('.margin');
    if (!margin || !code.classList.contains('with-arcs')) return;
    const n_left = arcs.draw(asked(), margin.offsetLeft, margin.offsetWidth);
    arcs.light(pair && pair.id);
    left.textContent = n_left === 0 ? '' : `${told(n_left)} more do not fit`;
  }

  /** Offers the variables that have pairs within the file. */
  function offerVariables() {
    const path = data.files[file].path;
    const own = new Map(pairs.filter((one) => one.file === path && one.definition.file === path).map((one) => [variableKey(one), one]));
    const option = ([key, one]) => h('option', { value: key }, `arcs of ${one.variable} in ${one.function}`);
    variables.replaceChildren(h('option', { value: '' }, 'arcs of the line'), ...[...own].sort(([a], [b]) => (a < b ? -1 : 1)).map(option));
    code.classList.toggle('with-arcs', own.size > 0);
  }

  /** From the arcs of the line to those of each variable on it, and back. */
  function nextVariable() {
    const on = marks.get(current);
    const keys = ['', ...new Set((on ? on.pairs : []).map(variableKey))].filter((key) => [...variables.options].some((one) => one.value === key));
    pair = undefined;
    variables.value = keys[(keys.indexOf(variables.value) + 1) % keys.length];
    announce(variables.selectedOptions[0].textContent);
    drawArcs();
  }

  /** Lines come in blocks that are made when they come near. */
  function draw() {
    const blocks = [];
    const lazily = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) fill(entry.target);
    }, { root: code, rootMargin: '600px' });
    function fill(block) {
      if (block.made) return;
      block.made = true;
      lazily.unobserve(block);
      block.style.minHeight = '';
      block.replaceChildren(...block.lines.map((text, index) => line(text, block.first + index)));
      mark();
      drawArcs();
    }
    for (const part of data.files[file].parts) {
      if (part.first > 1) blocks.push(h('div', { class: 'left-out' }, `lines before ${part.first} are not shown`));
      for (let from = 0; from < part.lines.length; from += LINES_AT_ONCE) {
        const block = h('div', { class: 'block' });
        block.lines = part.lines.slice(from, from + LINES_AT_ONCE);
        block.first = part.first + from;
        block.fill = () => fill(block);
        block.style.minHeight = `calc(${block.lines.length} * var(--line))`;
        blocks.push(block);
      }
    }
    code.replaceChildren(...blocks);
    if (data.files[file].parts.length === 0) code.append(h('p', { class: 'faint' }, 'the source could not be read when the run ended'));
    code.querySelectorAll('.block').forEach((block) => lazily.observe(block));
  }

  function mark() {
    code.querySelectorAll('[aria-selected=true]').forEach((one) => one.setAttribute('aria-selected', 'false'));
    const element_ = document.getElementById(`line-${current}`);
    if (element_) element_.setAttribute('aria-selected', 'true');
    return element_;
  }

  function select(number, moved) {
    current = number;
    for (const block of code.querySelectorAll('.block')) {
      if (number >= block.first && number < block.first + block.lines.length) block.fill();
    }
    const element_ = mark();
    if (element_) {
      code.setAttribute('aria-activedescendant', element_.id);
      const [box, frame] = [element_.getBoundingClientRect(), code.getBoundingClientRect()];
      if (!moved) code.scrollTop += box.top - frame.top - frame.height / 3;
      else if (box.top < frame.top + 40 || box.bottom > frame.bottom - 40) element_.scrollIntoView({ block: 'center' });
    }
    if (moved) pair = undefined;
    drawArcs();
    side.replaceChildren(...lineDetail(number, marks.get(number), arcs.light));
    side.scrollTop = 0;
    if (moved) history.replaceState(null, '', `#source/${file}/${number}`);
  }

  function onKey(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) {
      event.preventDefault();
      event.stopPropagation();
      step(steps[event.key], () => true);
    }
  }

  /** To the next line with something on it for which `counts` holds. */
  function step(direction, counts) {
    const numbers = [...marks.keys()].filter((number) => counts(marks.get(number))).sort((a, b) => a - b);
    const next = direction > 0 ? numbers.find((number) => number > current) : numbers.findLast((number) => number < current);
    if (next !== undefined) select(next, true);
  }

  function open(wanted, number, id) {
    pair = pairs.find((one) => String(one.id) === id);
    if (wanted !== file || code.childElementCount === 0) {
      file = wanted;
      files.value = file;
      marks = gather();
      comments = insideComments(data.files[file].parts);
      const own = data.functions.map((one, index) => [one, index]).filter(([one]) => one.file === file);
      jump.replaceChildren(...own.map(([one, index]) => h('option', { value: index }, `${one.name}, line ${one.line}`)));
      offerVariables();
      draw();
    }
    const inside = data.functions.findLastIndex((one) => one.file === file && one.line <= number);
    if (inside >= 0) jump.value = inside;
    select(number, false);
  }

  return {
    element,
    start(wanted, line_, id) {
      const first = data.functions.find((one) => one.name === data.run.function) || data.functions[0];
      const number = line_ === undefined ? first && first.line : Number(line_);
      if (data.files.length > 0) open(wanted === undefined ? (first ? first.file : 0) : Number(wanted), number || 1, id);
    },
    move: (direction) => step(direction, () => true),
    seek: (direction) => step(direction, (on) => ['one', 'none'].includes(lineState(on))),
    variable: nextVariable,
    filter: () => jump.focus(),
    open: () => side.focus(),
    focus: () => code.focus({ preventScroll: true }),
  };
}

/** What is known of a line. */
function lineDetail(number, on, light) {
  const head = h('h3', {}, `Line ${number}`);
  if (!on) return [head, h('p', { class: 'faint' }, 'There is no code of the run on this line.')];
  const fact = (state, words, hits) => h('div', { class: 'fact' }, h('div', {}, sign(state), ' ', words, h('small', { class: 'faint' }, ` ×${short(total(hits))}`)), testLinks(hits));
  const both = (hits) => (hits.length > 0 ? 'covered' : 'none');
  return [
    head,
    on.functions.map((one) => fact(both(one.hits), [h('b', {}, one.name), ' is entered'], one.hits)),
    on.decisions.map((decision) => h('div', { class: 'group' },
      h('div', {}, h('span', { class: 'kind' }, decision.kind), ' ', h('code', {}, decision.text), ' ', h('a', { href: `#decision/${decision.index}` }, decision.conditions.length > 1 ? 'MC/DC table' : 'details')),
      [true, false].map((outcome) => fact(both(outcomeHits(decision, outcome)), `is ${outcome}`, outcomeHits(decision, outcome))))),
    on.conditions.filter(({ decision }) => decision.conditions.length > 1).map(({ decision, condition, index }) => h('div', { class: 'group' },
      h('div', {}, h('span', { class: 'kind' }, `c${index + 1}`), ' ', h('code', {}, condition.text), !on.decisions.includes(decision) && [' ', h('a', { href: `#decision/${decision.index}` }, 'MC/DC table')]),
      fact(both(condition.when_true), 'is true', condition.when_true), fact(both(condition.when_false), 'is false', condition.when_false))),
    on.labels.map((label) => fact(both(label.hits), [h('code', {}, `switch (${label.of})`), ` ${label.what}`], label.hits)),
    on.statements.length > 0 && h('div', { class: 'group' }, h('div', {}, h('span', { class: 'kind' }, plural(on.statements.length, 'statement'))), on.statements.map((one) => fact(both(one.hits), `column ${one.column}`, one.hits))),
    on.goals.filter((goal) => goal.state === 'infeasible').map((goal) => h('div', { class: 'fact' }, h('div', {}, sign('infeasible'), ' ', h('a', { href: `#goal/${goal.id}` }, goal.demand)), h('small', { class: 'faint' }, knownBy(goal)))),
    on.invariants.length > 0 && h('div', { class: 'group' }, h('div', {}, h('span', { class: 'kind' }, 'invariant'), ' whenever control is here'),
      on.invariants.map(({ goal, holds }) => h('div', { class: 'fact' }, h('div', {}, clauses(holds)), h('small', { class: 'faint' }, ' shows that nothing covers ', h('a', { href: `#goal/${goal.id}` }, goal.demand))))),
    pairsOnLine(number, on.pairs, light),
  ].flat(3).filter(Boolean);
}

const KEYWORDS = /^(?:auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while|_Bool|bool)$/;
const TOKENS = /(\/\*.*?(?:\*\/|$)|\/\/.*$)|("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(^\s*#\s*\w+)|([A-Za-z_]\w*)|(\b\d[\w.]*)/g;

/** The lines that begin within a comment. */
function insideComments(parts) {
  const lines = new Set();
  for (const part of parts) {
    let inside = false;
    part.lines.forEach((text, index) => {
      if (inside) lines.add(part.first + index);
      const rest = inside ? (text.includes('*/') ? text.slice(text.indexOf('*/') + 2) : undefined) : text;
      if (rest === undefined) return;
      const opened = [...rest.matchAll(TOKENS)].filter((match) => match[1] && match[1].startsWith('/*') && !match[1].endsWith('*/'));
      inside = opened.length > 0;
    });
  }
  return lines;
}

/** C with a little colour; `inside` when the line begins within a comment. */
function highlighted(text, inside) {
  if (inside) {
    const end = text.includes('*/') ? text.indexOf('*/') + 2 : text.length;
    return [h('span', { class: 'comment' }, text.slice(0, end)), ...highlighted(text.slice(end))];
  }
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    const kind = match[1] ? 'comment' : match[2] ? 'string' : match[3] ? 'directive' : match[4] ? (KEYWORDS.test(match[4]) ? 'keyword' : undefined) : 'digits';
    if (!kind) continue;
    parts.push(text.slice(at, match.index), h('span', { class: kind }, match[0]));
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}
