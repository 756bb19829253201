// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"fmt"
	"sync"
	"testing"
)

// faults reports the first fault of each kind that a check finds: a sink that
// fails each call would be reported a thousand times.
type faults struct {
	t     testing.TB
	check string

	mu    sync.Mutex
	kinds map[string]bool // the formats that were reported
}

// fault reports a fault, of the kind that format is.
func (f *faults) fault(format string, args ...any) {
	f.t.Helper()
	f.mu.Lock()
	again := f.kinds[format]
	if f.kinds == nil {
		f.kinds = map[string]bool{}
	}
	f.kinds[format] = true
	f.mu.Unlock()
	if !again {
		f.t.Errorf("%s: %s", f.check, fmt.Sprintf(format, args...))
	}
}
