// A list beside what is selected in it. Only rows in sight are elements, so that thousands of them cost nothing.

const SPARE_ROWS = 8;

/**
 * Shows `items` in `main`: `row(item)` gives the parts of a line, `detail(item)` what is told beside it, `text(item)` what
 * the filter looks at, `id(item)` its name in addresses. `filters` are further choices: { label, options, matches }; `heads` stand
 * over the parts of lines: [class, words].
 */
function listView({ name, label, items, row, detail, text, id, filters: choices = [], heads, isOpen, empty }) {
  // a choice of one is none
  const filters = choices.filter((choice) => choice.options.length > 1);
  if (items.length === 0) {
    const nothing = () => {};
    return { element: h('p', { class: 'empty', tabindex: '-1' }, empty), start: nothing, move: nothing, seek: nothing, filter: nothing, open: nothing, focus: nothing };
  }
  let shown = items;
  let selected = -1;
  const texts = items.map((item) => text(item).toLowerCase());

  const input = h('input', { type: 'search', id: 'filter', placeholder: 'filter', 'aria-label': `Filter ${label}`, autocomplete: 'off', spellcheck: 'false', input: () => refresh() });
  const selects = filters.map((filter) => {
    const option = ([value, words]) => h('option', { value }, words);
    return h('select', { 'aria-label': filter.label, 'data-filter': filter.label, change: () => refresh() }, option(['', filter.label]), filter.options.map(option));
  });
  const count = h('span', { class: 'count' });
  const spacer = h('div', { class: 'spacer' });
  const list = h('div', { class: 'list', role: 'listbox', tabindex: '0', 'aria-label': label, scroll: () => draw(), keydown: onListKey }, spacer);
  const side = h('section', { class: 'detail', 'aria-label': `Selected ${name}`, tabindex: '-1' });
  const pane = h('div', { class: 'list-pane' }, h('div', { class: 'tools' }, input, selects, count),
    heads && h('div', { class: 'heads', 'aria-hidden': 'true' }, heads.map(([kind, words]) => h('span', { class: kind }, words))), list);
  const view = h('div', { class: `split ${name}-view` }, pane, side);

  const rowHeight = () => parseFloat(getComputedStyle(list).getPropertyValue('--row')) || 34;

  function refresh(keep) {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = filters.map((filter, index) => [filter, selects[index].value]).filter(([, value]) => value !== '');
    const before = keep || shown[selected];
    shown = items.filter((item, index) =>
      words.every((word) => texts[index].includes(word)) && chosen.every(([filter, value]) => filter.matches(item, value)));
    count.textContent = shown.length === items.length ? plural(items.length, name) : `${told(shown.length)} of ${plural(items.length, name)}`;
    announce(count.textContent);
    spacer.style.height = `${shown.length * rowHeight()}px`;
    const again = shown.indexOf(before);
    if (again >= 0) select(again, false);
    else if (shown.length > 0) select(0, false);
    else {
      selected = -1;
      side.replaceChildren(h('p', { class: 'faint' }, 'nothing matches the filter'));
      list.removeAttribute('aria-activedescendant');
    }
    list.scrollTop = Math.max(0, Math.min(list.scrollTop, shown.length * rowHeight() - list.clientHeight));
    draw();
  }

  /** Makes the rows in sight. */
  function draw() {
    const height = rowHeight();
    const first = Math.max(0, Math.floor(list.scrollTop / height) - SPARE_ROWS);
    const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + SPARE_ROWS);
    const rows = [];
    for (let index = first; index < last; index += 1) {
      rows.push(h('div', {
        class: 'row', role: 'option', id: `row-${index}`, style: `top:${index * height}px`,
        'aria-selected': index === selected ? 'true' : 'false', 'aria-posinset': index + 1, 'aria-setsize': shown.length,
        click: () => { select(index, true); list.focus({ preventScroll: true }); },
      }, row(shown[index])));
    }
    spacer.replaceChildren(...rows);
  }

  function select(index, moved) {
    selected = index;
    list.setAttribute('aria-activedescendant', `row-${index}`);
    const height = rowHeight();
    if (index * height < list.scrollTop) list.scrollTop = index * height;
    else if ((index + 1) * height > list.scrollTop + list.clientHeight) list.scrollTop = (index + 1) * height - list.clientHeight;
    draw();
    side.replaceChildren(...detail(shown[index]).filter(Boolean));
    side.scrollTop = 0;
    if (moved) history.replaceState(null, '', `#${name}/${id(shown[index])}`);
  }

  function move(step) {
    if (shown.length === 0) return;
    select(Math.max(0, Math.min(shown.length - 1, selected + step)), true);
  }

  function onListKey(event) {
    const page = Math.max(1, Math.floor(list.clientHeight / rowHeight()) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -shown.length, End: shown.length };
    if (event.key in steps) {
      event.preventDefault();
      event.stopPropagation();
      move(steps[event.key]);
    }
  }

  /** The next one, in either direction, that is not done. */
  function seek(step) {
    for (let index = selected + step; index >= 0 && index < shown.length; index += step) {
      if (isOpen && isOpen(shown[index])) return select(index, true);
    }
    return undefined;
  }

  return {
    element: view,
    start(wanted) {
      const item = wanted === undefined ? undefined : items.find((one) => String(id(one)) === wanted);
      refresh(item);
      new ResizeObserver(() => draw()).observe(list);
    },
    move,
    seek,
    filter: () => { input.focus(); input.select(); },
    open: () => {
      const link = side.querySelector('a[href]');
      side.scrollIntoView({ block: 'nearest' });
      if (link) link.focus();
    },
    focus: () => list.focus({ preventScroll: true }),
  };
}
