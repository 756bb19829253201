// SPDX-License-Identifier: Apache-2.0

// Package backoff has the time between attempts to deliver. It is a package so
// that tests in another module can shorten it.
package backoff

import "time"

// First is the pause after the first failed attempt.
var First = 50 * time.Millisecond
