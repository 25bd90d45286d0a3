// Arcs in the margin of the source: from the line of a definition, marked by a dot, to an arrow at the line of the use. How the
// line is broken says the state as its colour does. Each has a lane of its own, short ones near the text; what finds no lane is
// left out, and the caller is told how many.

const LANE = 6;
/** Between the innermost lane and the text. */
const LEAD = 16;
/** Uses come before definitions on a line: `n -= 1`. */
const ABOVE = -4;
const BELOW = 4;

/** A layer for arcs over `code`; `place(line)` is the middle of a line, from the top, or nothing where none is shown. */
function arcLayer(code, place) {
  const svg = h('svg', { class: 'arcs', 'aria-hidden': 'true' });
  let drawn = [];

  /** Draws these pairs in a margin that begins at `left`, and returns how many did not fit. */
  function draw(asked, left, width) {
    const lanes = assignLanes(asked.flatMap((pair) => {
      const [from, to] = [place(pair.definition.line), place(pair.line)];
      return from === undefined || to === undefined ? [] : [{ pair, from: from + BELOW, to: to + ABOVE }];
    }), Math.max(1, Math.floor((width - LEAD) / LANE)));
    drawn = lanes.fitting.map((arc) => [arc.pair.id, shape(arc, width)]);
    svg.style.left = `${left}px`;
    svg.setAttribute('width', width);
    // nothing is painted outside of it, and it must not make the source longer
    svg.setAttribute('height', Math.max(0, ...lanes.fitting.map((arc) => Math.max(arc.from, arc.to) + 8)));
    svg.replaceChildren(...drawn.map(([, element]) => element));
    if (svg.parentNode !== code) code.append(svg);
    return lanes.n_left_out;
  }

  /** Makes one stand out, or none. */
  function light(id) {
    svg.classList.toggle('some-lit', drawn.some(([one]) => one === id));
    for (const [one, element] of drawn) element.classList.toggle('lit', one === id);
  }

  return { draw, light };
}

/** Lanes from the text outwards: short arcs first, and what is not covered before what is. */
function assignLanes(arcs, most) {
  const length = (arc) => Math.abs(arc.to - arc.from);
  const isDone = (arc) => Number(arc.pair.state === 'covered');
  const lanes = [];
  const kept = [];
  for (const arc of arcs.sort((a, b) => isDone(a) - isDone(b) || length(a) - length(b) || a.pair.id - b.pair.id)) {
    const lane = free(lanes, arc);
    if (lane >= most) continue;
    (lanes[lane] ||= []).push(arc);
    kept.push(arc);
  }
  // again without those left out, so that the shortest are the innermost
  const fitting = [];
  const tidy = [];
  for (const arc of [...kept].sort((a, b) => length(a) - length(b) || a.pair.id - b.pair.id)) {
    const lane = free(tidy, arc);
    (tidy[lane] ||= []).push(arc);
    fitting.push({ ...arc, lane: Math.min(lane, most - 1) });
  }
  return { fitting, n_left_out: arcs.length - kept.length };
}

/** The first lane in which nothing is in the way. */
function free(lanes, arc) {
  const [top, bottom] = [Math.min(arc.from, arc.to), Math.max(arc.from, arc.to)];
  const isApart = (other) => Math.max(other.from, other.to) < top - 2 || Math.min(other.from, other.to) > bottom + 2;
  const lane = lanes.findIndex((others) => others.every(isApart));
  return lane < 0 ? lanes.length : lane;
}

function shape({ pair, from, to, lane }, width) {
  const [right, x] = [width - 4, width - LEAD - lane * LANE];
  const round = Math.min(5, Math.abs(to - from) / 2, right - 6 - x);
  const down = to > from ? round : -round;
  const way = `M${right - 3} ${from}H${x + round}Q${x} ${from} ${x} ${from + down}V${to - down}Q${x} ${to} ${x + round} ${to}H${right - 5}`;
  return h('g', { class: `arc ${pair.state}`, 'data-pair': pair.id },
    h('title', {}, `${pair.variable}: line ${pair.definition.line} to line ${pair.line}, ${pair.use}, ${pair.state}`),
    h('path', { class: `way ${STROKES[pair.state]}`, d: way }),
    h('circle', { cx: right - 3, cy: from, r: 2.6 }),
    h('path', { class: 'head', d: `M${right - 6} ${to - 3.5}L${right + 1} ${to}L${right - 6} ${to + 3.5}Z` }));
}

/** What the arcs of a state look like, in words. */
const arcSample = (state) =>
  h('span', {}, h('svg', { class: 'sample', width: 22, height: 8, 'aria-hidden': 'true' }, h('g', { class: `arc ${state}` }, h('path', { class: `way ${STROKES[state]}`, d: 'M0 4H22' }))), ` pair ${STATES[state].say}`);
