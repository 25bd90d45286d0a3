// Decisions and what MC/DC asks of them: conditions, the evaluations that tests made, and which of them show an effect.

function decisionView() {
  const names = [...new Set(decisions.map((decision) => data.functions[decision.function].name))];
  return listView({
    name: 'decision',
    label: 'Decisions',
    items: decisions,
    empty: 'The run reaches no decision.',
    id: (decision) => decision.index,
    text: (decision) => `${decision.text} ${decision.kind} ${data.functions[decision.function].name} ${baseName(data.files[decision.file].path)}:${decision.line}`,
    isOpen: (decision) => ['one', 'none'].includes(mcdcState(decision)),
    filters: [
      { label: 'any state', options: [['both', 'shown in full'], ['one', 'in part'], ['none', 'not at all'], ['infeasible', 'infeasible']], matches: (decision, state) => mcdcState(decision) === state },
      { label: 'any size', options: [['many', 'several conditions'], ['one', 'one condition']], matches: (decision, size) => (decision.conditions.length > 1) === (size === 'many') },
      { label: 'any function', options: names.map((name) => [name, name]), matches: (decision, name) => data.functions[decision.function].name === name },
    ],
    row: (decision) => {
      const [shown, asked] = shownOf(decision);
      return [sign(mcdcState(decision)), h('span', { class: 'place' }, `${decision.line}:${decision.column}`), h('code', { class: 'grow' }, decision.text), h('span', { class: 'faint' }, `${shown}/${asked}`)];
    },
    detail: decisionDetail,
  });
}

function decisionDetail(decision) {
  const [shown, asked] = shownOf(decision);
  const pinned = { condition: undefined };
  const vectors = vectorTable(decision);
  const conditions = conditionTable(decision, (index, keep) => {
    if (keep) pinned.condition = index === pinned.condition ? undefined : index;
    vectors.light(keep ? pinned.condition : index === undefined ? pinned.condition : index);
  });
  return [
    h('h3', {}, h('span', { class: 'kind' }, decision.kind), ' ', atLink(decision), ' in ', data.functions[decision.function].name),
    h('pre', { class: 'expression' }, h('code', {}, decision.text)),
    h('p', { class: 'lead' }, `${shown} of ${plural(asked, 'effect')} shown`, ` · true ×${short(total(outcomeHits(decision, true)))}, false ×${short(total(outcomeHits(decision, false)))}`,
      h('small', { class: 'faint' }, uniqueCause ? ' · by pairs that differ in nothing else (unique cause)' : ' · by evaluations in which nothing masks the condition')),
    h('h4', {}, 'Conditions'),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Conditions' }, conditions),
    h('h4', {}, 'Evaluations by the tests'),
    decision.vectors.length === 0 ? h('p', { class: 'faint' }, 'No test evaluates this decision to its end.') : h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Evaluations' }, vectors.element),
    h('p', { class: 'faint small' }, 'T true, F false, – not evaluated. A ring marks where an evaluation shows the condition’s effect on the outcome. Choose a condition to see its pair.'),
  ];
}

/** Per condition its two obligations and the pair of evaluations that shows them. */
function conditionTable(decision, light) {
  const row = (condition, index) => {
    const [yes, no] = [true, false].map((value) => condition.obligations.find((one) => one.value === value));
    const pair = condition.pairs[0];
    const cell = (obligation, words) => {
      if (!obligation) return h('td', { 'data-label': words }, '–');
      const done = isShown(condition, obligation);
      const goal = infeasibleGoal(decision, condition, obligation);
      if (!done && goal) return h('td', { 'data-label': words, title: knownBy(goal) }, sign('infeasible'), ' ', h('a', { href: `#goal/${goal.id}` }, isBounded(goal) ? 'infeasible under assumptions' : 'infeasible'));
      const how = done ? obligation.shown_by.map((vector) => `#${vector + 1}`).slice(0, 4).join(' ') : obligation.missing.length > 0 ? ['needs ', obligation.missing.map((one) => h('code', { class: 'vector' }, one.replaceAll('-', '–'), ' '))] : obligation.shown_by.length > 0 ? 'no pair yet' : obligation.unlisted ? 'not yet' : 'nothing can show it';
      const masks = obligation.masks.length > 0 ? `masks ${obligation.masks.map((one) => `c${one + 1}`).join(' ')}` : '';
      const ends = obligation.ends === 'no' ? '' : obligation.ends === 'depends' ? 'ends the decision' : `ends it ${obligation.ends}`;
      return h('td', { 'data-label': words, title: [masks, ends].filter(Boolean).join(', ') }, sign(done ? 'covered' : 'none'), ' ', how);
    };
    const told = pair && [`#${pair.when_true + 1} ↔ #${pair.when_false + 1} `, h('small', { class: 'faint' }, pair.unique_cause ? 'unique cause ' : 'masking '),
      testLinks([[decision.vectors[pair.when_true].hits[0][0], 1], [decision.vectors[pair.when_false].hits[0][0], 1]])];
    return h('tr', { mouseenter: () => light(index), mouseleave: () => light(undefined) },
      h('th', { scope: 'row' }, h('button', { class: 'name', 'aria-label': `Show the pair of c${index + 1}`, click: () => light(index, true), focus: () => light(index), blur: () => light(undefined) }, `c${index + 1}`)),
      h('td', { class: 'text' }, h('code', {}, condition.text)),
      h('td', { class: 'number', 'data-label': 'true' }, short(total(condition.when_true))),
      h('td', { class: 'number', 'data-label': 'false' }, short(total(condition.when_false))),
      cell(yes, 'effect of true'), cell(no, 'effect of false'),
      h('td', { 'data-label': 'pair' }, told || h('span', { class: 'faint' }, 'none yet')));
  };
  const heads = ['', 'condition', 'true', 'false', 'effect of true', 'effect of false', 'independence pair'];
  return h('table', { class: 'conditions' }, h('thead', {}, h('tr', {}, heads.map((head) => h('th', { scope: 'col', class: head === 'true' || head === 'false' ? 'number' : undefined }, head)))), h('tbody', {}, decision.conditions.map(row)));
}

/** The evaluations; `light` marks those that a condition's pair is made of. */
function vectorTable(decision) {
  const shows = decision.vectors.map((_, vector) => decision.conditions.map((condition) => condition.obligations.some((one) => one.shown_by.includes(vector))));
  const letter = (vector, place) => {
    const value = decision.vectors[vector].vector[place];
    const words = { T: 'true', F: 'false', '-': 'not evaluated' }[value];
    const ringed = shows[vector][place];
    return h('td', { class: `value ${value === 'T' ? 'yes' : value === 'F' ? 'no' : 'skipped'} ${ringed ? 'shows' : ''}`, title: ringed ? `${words}: shows the effect of c${place + 1}` : words }, h('span', {}, value === '-' ? '–' : value));
  };
  const rows = decision.vectors.map((one, vector) => h('tr', {},
    h('th', { scope: 'row' }, `#${vector + 1}`),
    decision.conditions.map((_, place) => letter(vector, place)),
    h('td', { class: `outcome ${one.outcome ? 'yes' : 'no'}` }, String(one.outcome)),
    h('td', { class: 'number' }, short(total(one.hits))),
    h('td', {}, testLinks(one.hits, 4))));
  const heads = decision.conditions.map((condition, place) => h('th', { scope: 'col', title: condition.text }, `c${place + 1}`));
  const element = h('table', { class: 'vectors' },
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, ''), heads, h('th', { scope: 'col' }, 'outcome'), h('th', { scope: 'col', class: 'number' }, 'times'), h('th', { scope: 'col' }, 'tests'))),
    h('tbody', {}, rows));
  function light(index) {
    const pair = index === undefined ? undefined : decision.conditions[index].pairs[0];
    rows.forEach((row, vector) => row.classList.toggle('lit', pair !== undefined && (pair.when_true === vector || pair.when_false === vector)));
    element.querySelectorAll('.lit-column').forEach((cell) => cell.classList.remove('lit-column'));
    if (index !== undefined) rows.forEach((row) => row.children[index + 1].classList.add('lit-column'));
  }
  return { element, light };
}
