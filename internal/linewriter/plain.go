// SPDX-License-Identifier: Apache-2.0

package linewriter

import (
	"context"
	"io"
)

// Plain returns a writer that has only the methods Write and Flush of w. Sinks
// that write text use it for a writer that is also a sink, which expects JSON.
func Plain(w io.Writer) io.Writer {
	if f, ok := w.(flusher); ok {
		return plain{w, f}
	}
	return struct{ io.Writer }{w}
}

type flusher interface {
	Flush(ctx context.Context) error
}

type plain struct {
	io.Writer
	flusher
}
