// SPDX-License-Identifier: Apache-2.0

package httpsend

import "testing"

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	var c Client
	c.requests.Store(1)
	c.failures.Store(2)
	c.sent.Store(3)
	if got, want := c.Stats(), (Stats{Requests: 1, Failures: 2, Bytes: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
