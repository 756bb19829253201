// SPDX-License-Identifier: Apache-2.0

//go:build linux && !go1.25

package crash

import "testing"

func bubble(t *testing.T, f func(t *testing.T)) { f(t) }

const bubbles = false
