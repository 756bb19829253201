// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
)

func TestExpressionsThatMatchNothingAreReported(t *testing.T) {
	files := map[string]string{
		"m.go":      "package m\n\n//alloc:none\nfunc Free(n int) int { return n + 1 }\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc BenchmarkFree(b *testing.B) {\n\tfor range b.N {\n\t\tFree(1)\n\t}\n}\n",
	}
	for _, c := range []struct {
		bench string
		want  []string
	}{
		{"Free", nil},
		{"NoSuch", []string{"--bench NoSuch matches nothing in these packages"}},
	} {
		d := examine(t, check.Options{Bench: regexp.MustCompile(c.bench)}, files)
		if got := d.Toolchains[0].Trouble; !slices.Equal(got, c.want) {
			t.Errorf("--bench %s: got %q, want %q", c.bench, got, c.want)
		}
	}
}
