'use strict';
const all = (what, from = document) => from.querySelectorAll(what);

// The source of a line is in the page once, and is shown where it is unfolded.
function fill(details) {
  for (const code of all('[data-source]', details)) {
    const source = document.getElementById(code.dataset.source);
    if (source) code.replaceChildren(source.content.cloneNode(true));
    code.removeAttribute('data-source');
  }
}
document.addEventListener('toggle', e => { if (e.target.open) fill(e.target); }, true);
all('details[open]').forEach(fill);

const search = document.getElementById('q');
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of all('.item')) {
    item.text ??= item.textContent.toLowerCase();
    item.hidden = !words.every(w => item.text.includes(w));
  }
  for (const rest of all('.rest')) {
    rest.hidden = words.length > 0 && !rest.querySelector('.item:not([hidden])');
  }
});

for (const tab of all('[data-release]')) tab.addEventListener('click', () => {
  all('[data-release]').forEach(t => t.setAttribute('aria-pressed', String(t === tab)));
  all('[data-of]').forEach(s => { s.hidden = s.dataset.of !== tab.dataset.release; });
});

const style = document.documentElement.style;
const isDark = () => style.colorScheme ? style.colorScheme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
const theme = () => { style.colorScheme = isDark() ? 'light' : 'dark'; };
document.getElementById('theme').addEventListener('click', theme);
document.addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape' && search.value) { search.value = ''; search.dispatchEvent(new Event('input')); }
  else if (e.target === search) return;
  else if (e.key === '/') { e.preventDefault(); search.select(); }
  else if (e.key === 't') theme();
});
