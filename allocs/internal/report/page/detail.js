// What is below a root: source, sites, calls.

function detail(r) {
  const facts = [`${shortName(r.function)}, lines ${r.line} to ${r.end}`];
  if (r.runs) facts.push('allocates in ' + r.runs.join(', '));
  const unfollowed = Math.max(0, ...(r.unfollowed || []));
  if (unfollowed) facts.push(plural(unfollowed, 'call') + ' through interfaces and function values not followed');
  if (r.kind !== 'log call') facts.push(r.kind === 'named' ? 'named by --root' : 'carries an //alloc: comment');
  const d = el('.detail', {}, el('p.facts', {}, facts.join(' · ')),
    el('.main', {}, el('h2', {}, r.sites.length ? 'Source' : 'Nothing is allocated below it'), ...blocks(r)));
  if (r.sites.length) d.append(el('.side', {}, el('h2', {}, 'Calls from here to what allocates'), tree(r)));
  return d;
}

// blocks shows the root's own lines first, then those of the functions below
// it, the worst first.
function blocks(r) {
  const parts = new Map();
  const own = `${r.file}/own`;
  parts.set(own, { file: r.file, func: shortName(r.function), sites: [], rank: 9, from: r.line, to: r.end });
  r.sites.forEach((place, k) => {
    const verdict = place.verdict;
    let key = place.file === r.file && place.line >= r.line && place.line <= r.end ? own : place.file + '/' + place.function;
    if (key !== own && place.rank <= QUIET) key += '/quiet';
    if (!parts.has(key)) parts.set(key, { file: place.file, func: place.function, sites: [], rank: 0 });
    const b = parts.get(key);
    b.sites.push({ k, place, verdict });
    b.rank = Math.max(b.rank, place.rank);
  });
  const sorted = [...parts.values()].sort((a, b) => b.rank - a.rank);
  const shown = sorted.filter(b => b.rank >= COUNTED), folded = sorted.filter(b => b.rank < COUNTED);
  const out = shown.map(b => block(r, b));
  if (folded.length) out.push(possible(r, folded));
  return out;
}

// possible shows what no run counted in functions below a root: the numbers for
// each kind of missing evidence; the source is shown when it is unfolded.
function possible(r, blocks) {
  const n = {};
  for (const b of blocks) for (const s of b.sites) if (s.verdict === 'possible') n[s.place.missing] = (n[s.place.missing] || 0) + 1;
  const summary = Object.keys(MISSING).filter(m => n[m]).reverse().map(m => `${MISSING[m]}: ${n[m]}`).join(', ');
  const d = el('details', { class: 'quiet' }, el('summary', { class: 'more' }, `possible, in ${plural(blocks.length, 'function')} below: ${summary}`));
  d.addEventListener('toggle', () => { if (d.open && d.children.length === 1) d.append(...blocks.map(b => block(r, b))); });
  return d;
}

const near = 4;
function block(r, b) {
  const keep = new Set(), at = new Map();
  const span = (from, to) => { for (let n = from; n <= to; n++) keep.add(n); };
  if (b.from !== undefined) {
    const log = r.kind === 'log call', long = b.to - b.from > 60;
    if (!long) span(b.from - (log ? near : 0), b.to + (log ? near : 0)); else span(b.from, b.from + 2);
  }
  for (const s of b.sites) {
    span(s.place.line - near, s.place.line + near);
    at.set(s.place.line, [...(at.get(s.place.line) || []), s]);
  }
  const source = D.source[b.file] || {};
  const lines = [...keep].filter(n => n in source).sort((x, y) => x - y).map(n => [n, source[n]]);
  const ol = el('ol', {});
  let last = 0;
  for (const [n, text] of lines) {
    if (last && n > last + 1) ol.append(el('li.gap', {}, '⋯'));
    last = n;
    ol.append(...codeLine(r, n, text, at.get(n)));
  }
  if (!lines.length) for (const [n, sites] of at) ol.append(...codeLine(r, n, '(the source could not be read)', sites));
  return el('section.block', {}, el('.where', {}, el('span.mono', {}, b.func.replace(/^.*\//, '')), el('span.mono', {}, b.file)), el('.code', { tabindex: 0, role: 'region', 'aria-label': 'source of ' + b.func }, ol));
}

function codeLine(r, n, text, sites) {
  const cells = [el('span.bar', {}), el('span.no', {}, String(n))];
  if (!sites) return [el('li.ln', {}, ...cells, el('span.mark', {}), el('pre', {}, text))];
  const top = worst(sites.map(s => s.place)), v = top.verdict;
  const times = sites.reduce((sum, s) => sum + perOp(s.place.versions), 0);
  const mark = v === 'counted' ? '×' + number(times) : v === 'possible' ? '?' : '';
  const note = el('.note', { hidden: rank(top) <= QUIET });
  const fill = () => {
    if (note.children.length) return;
    const sorted = sites.sort((a, b) => b.place.rank - a.place.rank);
    const loud = sorted.filter(s => s.place.rank > QUIET || rank(top) <= QUIET), quiet = sorted.filter(s => !loud.includes(s));
    note.append(...loud.map(s => site(r, s)));
    if (quiet.length) note.append(el('details.besides', {}, el('summary.soft', {}, 'besides: ' + plural(quiet.length, 'possible', 'possible')), ...quiet.map(s => site(r, s))));
  };
  if (!note.hidden) fill();
  const b = el(`button.ln.hit.${v}`, { title: `${v}: ${WORDS[v]}`, 'aria-expanded': String(!note.hidden), 'data-lines': sites.map(s => `${r.i}-${s.k}`).join(' ') }, ...cells, el('span.mark', {}, mark), el('pre', {}, text));
  b.addEventListener('click', () => { fill(); note.hidden = !note.hidden; b.setAttribute('aria-expanded', String(!note.hidden)); });
  b.show = () => { fill(); note.hidden = false; b.setAttribute('aria-expanded', 'true'); };
  return [el('li', {}, b, note)];
}

function showSite(i, n) {
  const e = row(roots[i]);
  const find = () => [...e.querySelectorAll('button.ln')].find(b => b.dataset.lines.split(' ').includes(`${i}-${n}`));
  let b = find();
  if (!b) {
    for (const d of e.querySelectorAll('details.quiet')) {
      if (b) break;
      const was = d.open;
      d.open = true; d.dispatchEvent(new Event('toggle')); b = find();
      if (!b) d.open = was;
    }
  }
  if (!b) return e;
  const quiet = b.closest('details.quiet');
  if (quiet) quiet.open = true;
  b.show();
  const s = document.getElementById(`site-${i}-${n}`);
  const besides = s.closest('details.besides');
  if (besides) besides.open = true;
  return s;
}

function site(r, s) {
  const answers = s.place.versions, p = s.place, times = perOp(answers);
  const e = el(`.site.${s.verdict}`, { id: `site-${r.i}-${s.k}`, tabindex: -1 });
  const by = el('.by', {}, el('b', {}, s.verdict, times > 0 ? ` ×${number(times)}` : ''));
  const change = r.changes.filter(c => c.site === p.key);
  by.append(...[...new Set(change.map(c => c.kind))].map(k => el('span.badge.' + k, {}, k)));
  const same = answers.every(a => a.verdict === s.verdict);
  if (answers.length > 1 && same) by.append(el('span.soft', {}, `on all ${answers.length} releases`));
  if (!same) by.append(...answers.map((a, t) => el('span.badge.' + a.verdict, { title: a.because || WORDS[a.verdict] }, D.toolchains[t].line.replace(/^go/, '') + ' ' + a.verdict)));
  const facts = el('dl', {}), fact = (name, text, cls) => text && facts.append(el('dt', {}, name), el('dd' + (cls || ''), {}, ...[text].flat()));
  fact('why', prose(p.reason));
  fact('fix', prose(p.fix), '.fix');
  const becauses = [...new Set(answers.filter(a => a.verdict === s.verdict && a.because).map(a => a.because))];
  if (s.verdict === 'possible') fact('when', becauses.join('; '));
  fact('but', [...new Set(answers.map(a => a.conflict).filter(Boolean))].join('; '), '.but');
  e.append(by, facts, evidence(answers, p, becauses));
  return e;
}

function evidence(answers, p, becauses) {
  const dl = el('dl', {}), fact = (name, text) => text && dl.append(el('dt', {}, name), el('dd', {}, text));
  fact('pattern', [p.pattern, p.kind].filter(Boolean).join(' · '));
  fact('verdict', becauses.join('; '));
  fact('calls', p.callee);
  answers.forEach((a, t) => {
    const e = a.evidence;
    if (!e) return;
    const parts = [];
    if (e.code) parts.push(`code: ${e.code}${e.calls > 1 ? ' ×' + e.calls : ''}`); else parts.push('code: no such call');
    if (e.compiler) parts.push(`compiler: ${e.compiler} escapes`);
    for (const run of e.runs || []) parts.push(`${run.name}: ${number(run.per_op)} allocs/op, ${number(run.bytes)} B/op`);
    if (e.visited) parts.push('runs came by');
    fact(D.toolchains[t].line, parts.join(' · '));
  });
  if (p.flow) fact('flow', el('span.mono', {}, ...p.flow.flatMap((f, i) => i ? [el('br'), '→ ' + f] : ['→ ' + f])));
  return el('details', {}, el('summary', {}, 'evidence'), dl);
}

// tree merges the ways to all sites of a root.
function tree(r) {
  const top = { kids: new Map(), rank: 0 };
  r.sites.forEach((place, k) => {
    let n = top;
    for (const frame of r.chains[k] || []) {
      const key = frame.function + (frame.inlined ? ' i' : '');
      if (!n.kids.has(key)) n.kids.set(key, { frame, kids: new Map(), leaves: [], rank: 0 });
      n = n.kids.get(key);
      n.rank = Math.max(n.rank, place.rank);
    }
    (n.leaves = n.leaves || []).push({ k, verdict: place.verdict, place });
  });
  return branch(r, top, 'ul.tree', true);
}

// few shows the first of many entries, and the rest when asked to.
function few(entries, most = 6) {
  if (entries.length <= most + 1) return entries;
  const rest = entries.slice(most), more = el('li', {}, el('button.more', { onclick: () => more.replaceWith(...rest) }, `${rest.length} more`));
  return [...entries.slice(0, most), more];
}

function branch(r, n, tag, first) {
  const leaves = new Map(); // those of one line and verdict are one
  for (const l of n.leaves || []) {
    const key = `${l.place.file}:${l.place.line} ${l.verdict}`;
    if (!leaves.has(key)) leaves.set(key, l);
  }
  const kids = [...n.kids.values()].sort((a, b) => b.rank - a.rank);
  return el(tag, {},
    ...few([...leaves.values()].sort((a, b) => b.place.rank - a.place.rank).map(l => el(`li.leaf.${l.verdict}`, {}, el('button', { onclick: () => toSite(r.i, l.k) }, `${l.verdict} ${l.place.file.replace(/^.*\//, '')}:${l.place.line}`)))),
    ...kids.map(k => {
      const v = k.rank >= COUNTED ? 'counted' : k.rank ? 'possible' : 'none';
      const d = el('details', { open: first || k.rank >= COUNTED }, el('summary', {}, el('span.mono', {}, shortName(k.frame.function)), ...(k.frame.inlined ? [el('span.tag', { title: 'its code is part of the function above' }, 'inlined')] : []), ' ', el('span.soft', {}, `${k.frame.file.replace(/^.*\//, '')}:${k.frame.line}`)));
      const fill = () => { if (d.children.length === 1) d.append(branch(r, k, 'ul', false)); };
      if (d.open) fill(); else d.addEventListener('toggle', fill);
      return el('li.' + v, {}, d);
    }));
}
