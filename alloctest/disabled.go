// SPDX-License-Identifier: Apache-2.0

//go:build race || msan || asan || invariants

package alloctest

// Enabled reports whether counts are meaningful in this build. It is false with
// -race, -msan, -asan and -tags invariants.
const Enabled = false
