// SPDX-License-Identifier: Apache-2.0

// Package formats has calls that go vet reports, each with a comment.
package formats

import "github.com/nib-log/nib"

func wrong(e *nib.Event) {
	e.Msgf("%d", "x") // wrong
	e.Msgf("%s")      // wrong
}

func right(e *nib.Event) {
	e.Msgf("%d %s", 1, "x")
	e.Msg("%d")
}
