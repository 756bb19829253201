// SPDX-License-Identifier: Apache-2.0

//go:build linux && !go1.25

package crash

import "testing"

func TestModel(t *testing.T) { begin(t, "31").skip("virtual clocks need Go 1.25") }
