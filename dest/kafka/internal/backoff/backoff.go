// SPDX-License-Identifier: Apache-2.0

// Package backoff holds the pause between delivery attempts. It is a separate
// package so that tests in another module can shorten the pause.
package backoff

import "time"

// First is the pause after the first failed attempt.
var First = 50 * time.Millisecond
