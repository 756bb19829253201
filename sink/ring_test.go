// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"reflect"
	"testing"

	"github.com/nib-log/nib"
)

// BacktraceConfig.Bytes documents a bound for the list of lines.
func TestListOfARingIsBounded(t *testing.T) {
	for _, limit := range []int{64, 1000, 64 << 10, 64<<10 + 64, 100_000} {
		g := ring{limit: limit}
		for range 2 * limit / bytesPerLine {
			g.put(&nib.Record{Line: []byte("{}\n")}, "")
		}
		size := len(g.lines) * int(reflect.TypeFor[held]().Size())
		if size > limit*5/4 || g.count != limit/bytesPerLine {
			t.Errorf("a ring of %d bytes has a list of %d bytes for %d lines", limit, size, g.count)
		}
	}
}
