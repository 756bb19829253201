// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package await

import (
	"testing/synctest"
	"time"
)

// Sleep sleeps in a bubble of testing/synctest, and then waits until what is
// due at the same time is done. Without that, a test that checks the effects of
// a timer fails by chance.
func Sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
