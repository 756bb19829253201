// SPDX-License-Identifier: Apache-2.0

// parameters encodes a selection and more.
function parameters(selection, more) {
  const p = new URLSearchParams();
  for (const [name, v] of Object.entries({ ...selection, ...more })) if (v !== '' && v != null && v !== 0) p.set(name, v);
  return p;
}

// get asks the API. It throws what the server says, that it does not answer, or
// an AbortError, also if the answer has been read in part.
export async function get(name, selection, more, signal) {
  let response, answer;
  try {
    response = await fetch(`api/${name}?${parameters(selection, more)}`, { signal, cache: 'no-store' });
    answer = await response.json();
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    throw { problem: response && !response.ok ? response.statusText : 'nib view does not answer. Is it still running?' };
  }
  if (!response.ok) throw answer;
  return answer;
}

// stream calls the functions in on with the events for a selection, until the
// function that it returns is called.
export function stream(selection, bars, on) {
  const source = new EventSource(`api/stream?${parameters(selection, { bars })}`);
  for (const name of ['status', 'problem', 'ended'])
    source.addEventListener(name, e => {
      if (name === 'problem') source.close();
      on[name](JSON.parse(e.data));
    });
  source.onerror = () => on.lost();
  source.onopen = () => on.back();
  return () => source.close();
}
