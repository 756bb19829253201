// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/file/internal/mark"
)

// BenchmarkDeliver measures a batch with and without claims, in the directory
// NIB_BENCH_DIR.
func BenchmarkDeliver(b *testing.B) {
	dir := os.Getenv("NIB_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	for _, lines := range []int{1, 100, 1000} {
		for _, claims := range []bool{true, false} {
			b.Run(fmt.Sprintf("lines=%d/claims=%v", lines, claims), func(b *testing.B) {
				path := filepath.Join(dir, fmt.Sprintf("bench-%d.log", os.Getpid()))
				defer os.Remove(path)
				defer os.Remove(filepath.Join(dir, claimsName(filepath.Base(path))))
				s, err := Open(path, Config{MaxSize: 1 << 40})
				must(b, err)
				defer s.Close()
				s.Mark()
				if !claims {
					s.dest.claims = mark.Claims{}
					s.Mark()
				}
				batch := make([]nib.Record, lines)
				for i := range batch {
					batch[i] = *deskRecord(i)
				}
				for b.Loop() {
					if res, err := s.Deliver(context.Background(), batch); err != nil || res.Accepted != lines {
						b.Fatal(res, err)
					}
				}
			})
		}
	}
}
