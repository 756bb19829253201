// SPDX-License-Identifier: Apache-2.0

//go:build !race && !msan && !asan && !invariants

package alloctest

// Enabled tells whether counts mean something in this build. It is false with
// -race, -msan, -asan and -tags invariants.
const Enabled = true
