// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package nibtest

// show writes a line to the test. Output indents it and, unlike Log, does not
// prefix it with the position of this file.
func (c *Capture) show(line []byte) {
	_, _ = c.tb.Output().Write(append(line[:len(line):len(line)], '\n'))
}
