// SPDX-License-Identifier: Apache-2.0

import { get } from './api.js';

const SIZE = 64; // rows that are fetched at once
const KEPT = 40; // chunks

// Rows keeps the rows that the list has shown last. A row has the same number for
// as long as the selection is the same.
export class Rows {
  version = $state(0); // changes with each answer
  problem = $state('');
  #tries = $state(0);
  #chunks = new Map(); // number: { rows, first, full }
  #asked = new Map(); // number: promise
  #stop = new AbortController();

  constructor(selection, onSession) {
    this.selection = selection;
    this.onSession = onSession;
  }

  close() {
    this.#stop.abort();
  }

  // row returns a row, or undefined if it has not been fetched.
  row(r) {
    const c = this.#chunks.get(Math.floor(r / SIZE));
    return c?.rows[r - c.first];
  }

  // retry makes what called need call it again, if rows could not be fetched.
  retry() {
    if (this.problem) this.#tries++;
  }

  // need fetches the rows from low to high that are missing. Rows that are there
  // when it is called are there when its promise is fulfilled.
  need(low, high) {
    this.#tries;
    const wait = [];
    for (let c = Math.floor(low / SIZE); c * SIZE < high; c++) {
      const from = Math.max(low, c * SIZE), to = Math.min(high, (c + 1) * SIZE) - 1;
      if (from <= to && !(this.row(from) && this.row(to))) wait.push(this.#fetch(c, to));
    }
    return Promise.all(wait);
  }

  // fetch fetches a chunk. A request that is under way may have been answered
  // before row last was there.
  async #fetch(c, last) {
    if (this.#asked.has(c)) {
      await this.#asked.get(c);
      if (this.row(last)) return;
    }
    if (!this.#asked.has(c)) this.#asked.set(c, this.#get(c).finally(() => this.#asked.delete(c)));
    return this.#asked.get(c);
  }

  async #get(c) {
    try {
      const rows = [], end = (c + 1) * SIZE;
      let next = c * SIZE, a;
      do { // an answer has fewer rows than there are if their lines are long
        a = await get('rows', this.selection, { row: next, n: end - next }, this.#stop.signal);
        this.onSession(a.session);
        rows.push(...a.rows);
        next = a.first + a.rows.length;
      } while (a.rows.length && next < Math.min(end, a.high));
      this.#chunks.delete(c); // the order is that of use
      this.#chunks.set(c, { rows, first: next - rows.length });
      if (this.#chunks.size > KEPT) this.#chunks.delete(this.#chunks.keys().next().value);
      this.problem = '';
      this.version++;
    } catch (e) {
      if (e.name !== 'AbortError') this.problem = e.problem ?? String(e);
    }
  }
}
