// SPDX-License-Identifier: Apache-2.0

//go:build !go1.25

package nibtest

// show writes a line to the test.
func (c *Capture) show(line []byte) {
	c.tb.Helper()
	c.tb.Log(string(line))
}
