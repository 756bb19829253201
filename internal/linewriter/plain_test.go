// SPDX-License-Identifier: Apache-2.0

package linewriter

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
)

// A sink is a writer with methods that Plain hides.
type sink struct{ bytes.Buffer }

func (*sink) WriteRecord(any) error { return nil }

type flushingSink struct{ sink }

var errFlush = errors.New("flushed")

func (*flushingSink) Flush(context.Context) error { return errFlush }

func TestPlainHasWriteAndFlushOnly(t *testing.T) {
	for _, w := range []interface {
		io.Writer
		String() string
	}{new(sink), new(flushingSink)} {
		p := Plain(w)
		if _, err := io.WriteString(p, "text"); err != nil || w.String() != "text" {
			t.Errorf("%T: got %q and error %v", w, w, err)
		}
		if _, ok := p.(interface{ WriteRecord(any) error }); ok {
			t.Errorf("%T: WriteRecord is not hidden", w)
		}
		_, flushes := w.(flusher)
		if f, ok := p.(flusher); ok != flushes || ok && f.Flush(context.Background()) != errFlush {
			t.Errorf("%T: Flush calls the writer: %v", w, ok)
		}
	}
}
