// SPDX-License-Identifier: Apache-2.0

// levels are the classes of the server, by number; short is for the list.
export const levels = [
  { name: 'none', short: '', title: 'no level' },
  { name: 'trace', short: 'TRC', title: 'trace' },
  { name: 'debug', short: 'DBG', title: 'debug' },
  { name: 'info', short: 'INF', title: 'info' },
  { name: 'warn', short: 'WRN', title: 'warn' },
  { name: 'error', short: 'ERR', title: 'error' },
  { name: 'fatal', short: 'FTL', title: 'fatal' },
];

// clauses select the lines of each class: levels between two names belong to the
// lower one.
export const clauses = [
  'not exists level', 'level < debug', 'level >= debug and level < info', 'level >= info and level < warn',
  'level >= warn and level < error', 'level >= error and level < panic', 'level >= panic',
];
