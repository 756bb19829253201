// SPDX-License-Identifier: Apache-2.0

package cart

import (
	"io"
	"log/slog"
	"testing"
	"time"
)

func BenchmarkCart(b *testing.B) {
	c := &Cart{log: slog.New(slog.NewJSONHandler(io.Discard, nil))}
	dst, at := make([]byte, 0, 1024), time.Unix(1700000000, 0).UTC()
	for i := 0; i < b.N; i++ {
		c.Reset()
		c.Add("teapot", 4200)
		dst = c.Line(dst[:0], 0, at)
	}
}
