// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestAllContestantsWriteTheSameLines(t *testing.T) {
	const want = `{"path":"/v1/accounts/7361/orders","message":"request served"}`
	var out strings.Builder
	for _, c := range contestants(&out) {
		out.Reset()
		c.Do(2)
		if got := out.String(); got != want+want {
			t.Errorf("%s: got %s, want it twice: %s", c.Name, got, want)
		}
	}
}
