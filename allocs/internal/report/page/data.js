'use strict';
// The findings, and what the other parts make elements with.
// They are a table of objects and lists, in which the number of an earlier one
// in a list stands for it.
const D = JSON.parse(document.getElementById('data').textContent).reduce((table, x) => {
  for (const k in x) if (Array.isArray(x[k])) x[k] = table[x[k][0]];
  table.push(x);
  return table;
}, []).pop();
const RANK = { absent: -1, none: 0, cold: 1, grows: 2, unknown: 3, always: 4 };
const WORDS = {
  always: 'allocates each time', unknown: 'can allocate, and nothing shows whether it does',
  grows: 'only beyond a size', cold: 'only on errors, first use or while warming up', none: 'does not allocate',
  absent: 'there is no code for it: not on this release or target, or generic and not used or always inlined',
};

// el makes an element: class names behind dots, attributes, children.
function el(what, attrs, ...children) {
  const [tag, ...classes] = what.split('.');
  const e = document.createElement(tag || 'div');
  if (classes.length) e.className = classes.filter(Boolean).join(' ');
  for (const k in attrs) {
    if (k.startsWith('on')) e.addEventListener(k.slice(2), attrs[k]);
    else if (attrs[k] !== undefined && attrs[k] !== false) e.setAttribute(k, attrs[k] === true ? '' : attrs[k]);
  }
  e.append(...children.flat().filter(c => c !== undefined && c !== null && c !== ''));
  return e;
}
function svg(width, height, ...rects) {
  const make = (tag, attrs) => {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const k in attrs) e.setAttribute(k, attrs[k]);
    return e;
  };
  const s = make('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  s.append(...rects.map(r => make('rect', r)));
  return s;
}
// prose sets what is between backticks as code.
const prose = text => text && text.split('`').map((part, i) => i % 2 ? el('code', {}, part) : part);
const plural = (n, one, many) => `${n} ${n === 1 ? one : many || one + 's'}`;
const number = n => String(Math.round(n * 100) / 100);
const worst = answers => answers.reduce((w, a) => RANK[a.verdict] > RANK[w] ? a.verdict : w, 'none');
const perOp = answers => Math.max(0, ...answers.flatMap(a => (a.evidence?.runs || []).map(r => r.per_op)));
// As in the text: names without the module, or without directories.
const shorten = id => (id.startsWith(D.module) ? id.slice(D.module.length) : id).replace(/^[./]+/, '');
const shortName = f => f.replace(/[^\s\[\](),*]+\//g, '');

// What is needed of each root again and again.
D.changes = D.changes || [];
const roots = D.roots.map((r, i) => {
  const sites = r.sites || [], title = r.text || shorten(r.id);
  const w = r.verdicts.reduce((a, v) => RANK[v] > RANK[a] ? v : a, 'absent');
  const changes = D.changes.filter(c => c.root === r.id);
  const text = [title, r.id, r.file];
  const patterns = new Set();
  for (const s of sites) {
    s.worst = worst(s.versions);
    text.push(shortName(s.function), s.file, s.reason, s.pattern || '', s.callee || '');
    if (s.worst === 'always') patterns.add(s.pattern || 'other');
  }
  const conflict = sites.some(s => s.versions.some(a => a.conflict));
  const most = r.allocs.indexOf(Math.max(...r.allocs));
  return { ...r, i, sites, title, worst: w, changes, patterns, conflict, leaf: r.worst_leaf?.[most], chains: D.chains[i] || [], text: [...new Set(text)].join('\n').toLowerCase() };
});
const STATES = ['above', 'always', 'unknown', 'clean', 'absent'];
const groupOf = r => STATES.indexOf(r.status);
const GROUPS = ['Above what is allowed', 'Allocating', 'Unknown: it can allocate, and nothing shows whether it does', 'Clean: nothing, or only what grows and what is cold', 'Without code'];
const MISSING = { benchmark: 'no benchmark reaches', branch: 'in a branch that no benchmark takes:', agreement: 'always in the code and never in the runs:' };

const state = { text: '', verdicts: new Set(), pattern: '', changed: false };
