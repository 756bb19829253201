// SPDX-License-Identifier: Apache-2.0

const pad = (n, width = 2) => String(n).padStart(width, '0');

// count formats a number with separators.
export const count = n => n.toLocaleString('en-US');

// bytes formats a size.
export function bytes(n) {
  for (const unit of ['B', 'kB', 'MB', 'GB', 'TB']) {
    if (n < 1000 || unit === 'TB') return `${n < 10 && unit !== 'B' ? n.toFixed(1) : Math.round(n)} ${unit}`;
    n /= 1000;
  }
}

// short formats a number with four characters at most.
export function short(n) {
  if (n < 10000) return String(n);
  for (const unit of ['k', 'M', 'G', 'T']) {
    n /= 1000;
    if (n < 1000) return `${n < 10 ? n.toFixed(1) : Math.floor(n)}${unit}`;
  }
}

// part reads parts of a time in UTC or local time.
const part = (ms, utc, name) => new Date(ms)[(utc ? 'getUTC' : 'get') + name]();

export const clock = (ms, utc) =>
  `${pad(part(ms, utc, 'Hours'))}:${pad(part(ms, utc, 'Minutes'))}:${pad(part(ms, utc, 'Seconds'))}`;
export const clockMillis = (ms, utc) => `${clock(ms, utc)}.${pad(part(ms, utc, 'Milliseconds'), 3)}`;
export const day = (ms, utc) =>
  `${part(ms, utc, 'FullYear')}-${pad(part(ms, utc, 'Month') + 1)}-${pad(part(ms, utc, 'Date'))}`;

// tick formats a time as finely as bars of a width need it.
export function tick(ms, step, utc) {
  if (step >= 86400e3) return day(ms, utc);
  if (step >= 60e3) return clock(ms, utc).slice(0, 5);
  return step >= 1000 ? clock(ms, utc) : clockMillis(ms, utc);
}

// key is a key as a query has it.
const key = name =>
  /^[A-Za-z_][\w.]*$/.test(name) && !/^(and|or|not|in|exists|contains|time|level|message|line)$/i.test(name)
    ? name : '`' + name + '`';

const quote = text => `"${text.replace(/[\\"]/g, c => '\\' + c).replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;

// value is a text as a query has it.
const value = text => (/^-?\d+(\.\d+)?$/.test(text) ? text : quote(text));

// clause compares a field with a text. A role is that of a field under any key.
export const clause = (name, text, op, role) => `${role || key(name)} ${op} ${op === '>=' ? text : value(text)}`;

// digits formats a number of any size with about three digits.
export const digits = n => (Math.abs(n) < 1e15 && Math.abs(n) >= 1000 ? count(Math.round(n)) : String(Number(n.toPrecision(3))));

// both joins two queries by and; one that is there is taken out.
export function both(query, other) {
  query = query.trim();
  if (!query) return other;
  if (query === other) return '';
  const suffix = ' and ' + other;
  if (query.endsWith(suffix)) return query.slice(0, -suffix.length);
  if (query.startsWith(other + ' and ')) return query.slice(other.length + 5);
  return (/\bor\b|\|\|/i.test(query) ? `(${query})` : query) + suffix;
}
