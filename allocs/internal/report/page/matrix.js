// The filter, and the matrix of roots and Go releases.

const search = el('input', { id: 'q', type: 'search', placeholder: 'Search functions, files, reasons  ( / )', 'aria-label': 'search', oninput: () => { state.text = search.value.trim().toLowerCase(); draw(); } });
const count = el('span.count', { 'aria-live': 'polite' });
const list = el('', { id: 'list' });
let openGroups = new Set([0, 1, 2]);
const rows = new Map(); // of the roots that have been drawn

function filterBar() {
  const chip = (v, what, on) => el('button.chip.' + v, { 'aria-pressed': 'false', title: WORDS[v] || '', onclick: e => { on(); e.currentTarget.setAttribute('aria-pressed', String(e.currentTarget.getAttribute('aria-pressed') !== 'true')); draw(); } }, what);
  const toggle = v => () => state.verdicts.has(v) ? state.verdicts.delete(v) : state.verdicts.add(v);
  return el('.filter', { role: 'search' }, search, ...Object.keys(WORDS).map(v => chip(v, v, toggle(v))),
    D.changes.length ? chip('changed', 'changed', () => { state.changed = !state.changed; }) : null, count);
}

const words = () => state.text.split(/\s+/).filter(Boolean);
function shown(r) {
  return words().every(w => r.text.includes(w)) && (!state.verdicts.size || state.verdicts.has(r.verdict)) &&
    (!state.pattern || r.patterns.has(state.pattern)) && (!state.changed || r.changes.length);
}
const filtering = () => state.text || state.verdicts.size || state.pattern || state.changed;

function draw() {
  const groups = STATES.map(() => []);
  let n = 0;
  for (const r of roots) if (shown(r)) { groups[groupOf(r)].push(r); n++; }
  count.textContent = filtering() ? `${n} of ${plural(roots.length, 'root')}` : plural(roots.length, 'root');
  const open = g => openGroups.has(g) || Boolean(filtering());
  list.replaceChildren(...groups.flatMap((rs, g) => {
    if (!rs.length) return [];
    const body = el('', {});
    const title = el('button.title', { 'aria-expanded': String(open(g)), onclick: () => { openGroups.has(g) ? openGroups.delete(g) : openGroups.add(g); draw(); } }, GROUPS[g], el('span.soft', {}, String(rs.length)));
    if (open(g)) body.append(releases(), ...rs.map(row));
    return [el('section.group', { 'data-group': g }, title, body)];
  }));
  if (!n) list.append(el('p.notice.soft', {}, 'No root has that. Esc clears the search.'));
}

// openGroup opens the roots of a state and scrolls to them.
function openGroup(g) {
  if (!openGroups.has(g)) openGroups.add(g);
  if (filtering()) clear(); else draw();
  document.querySelector(`[data-group="${g}"]`)?.scrollIntoView({ block: 'start' });
}

function releases() {
  const e = el('.releases', {}, el('span', {}), ...D.toolchains.map(t => el('span.mono', {}, t.line.replace(/^go/, ''))));
  e.style.setProperty('--releases', D.toolchains.length);
  return e;
}

function row(r) {
  if (rows.has(r.i)) return rows.get(r.i);
  const kinds = [...new Set(r.changes.map(c => c.kind))];
  const name = el('button.name', { 'aria-expanded': 'false', 'data-root': r.i, onclick: () => toggle(r.i, undefined, true) },
    el('span.mono', {}, r.title), el('span.soft', {}, `${r.file}:${r.line}`, r.allowed !== undefined ? ` · allowed ${r.allowed}` : '', r.leaf ? ` · most in ${r.leaf}` : '',
      ...kinds.map(k => el('span.badge.' + k, {}, k)), ...(r.conflict ? [el('span.badge.possible', {}, 'sources disagree')] : [])));
  const cells = r.verdicts.map((v, t) => {
    const text = v === 'counted' ? '×' + r.allocs[t] : v === 'possible' ? v : r.no_code?.[t] ? '–' : '0';
    const title = `${D.toolchains[t].name}: ${r.no_code?.[t] ? NO_CODE : WORDS[v]}${v === 'counted' ? ' (' + r.allocs[t] + ')' : ''}`;
    return el('button.cell.' + v, { title, 'aria-label': title, 'data-cell': `${r.i}-${t}`, onclick: () => go(r.i, { toolchain: t }) }, el('small', {}, D.toolchains[t].line.replace(/^go/, '')), text);
  });
  const line = el('.row', {}, name, ...cells);
  line.style.setProperty('--releases', D.toolchains.length);
  const e = el('article.root', { id: 'root-' + r.i }, line);
  rows.set(r.i, e);
  return e;
}

function toggle(i, want, show) {
  const e = row(roots[i]), name = e.querySelector('.name');
  const open = want === undefined ? !e.classList.contains('open') : want;
  if (open === e.classList.contains('open')) return e;
  e.classList.toggle('open', open);
  name.setAttribute('aria-expanded', String(open));
  if (open) e.append(detail(roots[i])); else e.querySelector('.detail').remove();
  if (open && show) e.scrollIntoView({ block: 'start' });
  history.replaceState(null, '', open ? '#' + encodeURIComponent(roots[i].id) : location.pathname + location.search);
  return e;
}

// go opens a root and comes to the site that is meant: by its key, or the worst
// on a toolchain.
function go(i, { toolchain, site } = {}) {
  const r = roots[i];
  if (!shown(r)) { clear(); }
  if (!openGroups.has(groupOf(r))) { openGroups.add(groupOf(r)); draw(); }
  const e = toggle(i, true);
  let n = -1, best = -1;
  r.sites.forEach((s, k) => {
    const found = site ? (s.key === site ? 9 : -1) : toolchain === undefined ? -1 : rank(s.versions[toolchain]);
    if (found > best) { best = found; n = k; }
  });
  if (n < 0 || best === 0) { e.scrollIntoView({ block: 'start' }); return; }
  toSite(i, n);
}

function toSite(i, n) {
  const site = showSite(i, n);
  document.querySelectorAll('.here').forEach(x => x.classList.remove('here'));
  site.classList.add('here');
  site.scrollIntoView({ block: 'center' });
  site.focus({ preventScroll: true });
}
