// SPDX-License-Identifier: Apache-2.0

//go:build linux && go1.25

package crash

import (
	"testing"
	"testing/synctest"
)

// bubble runs f with a fake clock, which advances when all goroutines are
// blocked.
func bubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

const bubbles = true
