// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/seed"
)

func TestDuplicates(t *testing.T) {
	tests := []struct{ name, line, last, first, rename string }{
		{"none", `{"a":1,"b":2}`, `{"a":1,"b":2}`, `{"a":1,"b":2}`, `{"a":1,"b":2}`},
		{"empty", `{}`, `{}`, `{}`, `{}`},
		{"two", `{"a":1,"b":2,"a":3}`, `{"b":2,"a":3}`, `{"a":1,"b":2}`, `{"a":1,"b":2,"a#2":3}`},
		{"neighbours", `{"a":1,"a":2,"b":3}`, `{"a":2,"b":3}`, `{"a":1,"b":3}`, `{"a":1,"a#2":2,"b":3}`},
		{"three", `{"a":1,"a":2,"a":3}`, `{"a":3}`, `{"a":1}`, `{"a":1,"a#2":2,"a#3":3}`},
		{"two keys", `{"a":1,"b":2,"b":3,"a":4}`, `{"b":3,"a":4}`, `{"a":1,"b":2}`, `{"a":1,"b":2,"b#2":3,"a#2":4}`},
		{"number taken before", `{"a#2":1,"a":2,"a":3}`, `{"a#2":1,"a":3}`, `{"a#2":1,"a":2}`, `{"a#2":1,"a":2,"a#3":3}`},
		{"number taken behind", `{"a":1,"a":2,"a#2":3}`, `{"a":2,"a#2":3}`, `{"a":1,"a#2":3}`, `{"a":1,"a#3":2,"a#2":3}`},
		{"number twice", `{"a":1,"a":2,"a#2":3,"a#2":4}`, `{"a":2,"a#2":4}`, `{"a":1,"a#2":3}`, `{"a":1,"a#3":2,"a#2":3,"a#2#2":4}`},
		{"empty key", `{"":1,"":2}`, `{"":2}`, `{"":1}`, `{"":1,"#2":2}`},
		{"escaped otherwise", `{"a":1,"\u0061":2}`, `{"\u0061":2}`, `{"a":1}`, `{"a":1,"\u0061#2":2}`},
		{"escaped alike", `{"\n":1,"\n":2}`, `{"\n":2}`, `{"\n":1}`, `{"\n":1,"\n#2":2}`},
		{"escaped number", `{"\n":1,"\n":2,"\u000a#2":3}`, `{"\n":2,"\u000a#2":3}`, `{"\n":1,"\u000a#2":3}`, `{"\n":1,"\n#3":2,"\u000a#2":3}`},
		{"surrogates", `{"🙂":1,"\ud83d\ude42":2}`, `{"\ud83d\ude42":2}`, `{"🙂":1}`, `{"🙂":1,"\ud83d\ude42#2":2}`},
		{"case differs", `{"a":1,"A":2}`, `{"a":1,"A":2}`, `{"a":1,"A":2}`, `{"a":1,"A":2}`},
		{"only nested", `{"a":{"b":1,"b":2},"c":[{"b":1,"b":2}],"b":3}`, `{"a":{"b":1,"b":2},"c":[{"b":1,"b":2}],"b":3}`, `{"a":{"b":1,"b":2},"c":[{"b":1,"b":2}],"b":3}`, `{"a":{"b":1,"b":2},"c":[{"b":1,"b":2}],"b":3}`},
		{"values of all kinds", `{"a":"},\"","a":{"}":"\\"},"a":[1,"]"],"a":null}`, `{"a":null}`, `{"a":"},\""}`, `{"a":"},\"","a#2":{"}":"\\"},"a#3":[1,"]"],"a#4":null}`},
	}
	var s Scratch
	for _, tt := range tests {
		for p, want := range map[Policy]string{KeepAll: tt.line, LastWins: tt.last, FirstWins: tt.first, Rename: tt.rename, 200: tt.line} {
			for _, end := range []string{"", "\n"} {
				if got := duplicates([]byte("dst"), []byte(tt.line+end), p, &s); string(got) != "dst"+want+end {
					t.Errorf("%s, policy %d\ngot  %q\nwant %q", tt.name, p, got, "dst"+want+end)
				}
			}
		}
	}
}

// settle applies a Policy to decoded members as Duplicates does to a line.
func settle(src object, p Policy) (out object) {
	count := map[string]int{}
	last := map[string]int{}
	for i, m := range src {
		count[m.key]++
		last[m.key] = i
	}
	number := map[string]int{}
	for i, m := range src {
		number[m.key]++
		switch {
		case p == LastWins && last[m.key] != i, p == FirstWins && number[m.key] > 1:
			continue
		case p == Rename && number[m.key] > 1:
			key := m.key
			for {
				m.key = key + "#" + strconv.Itoa(number[key])
				if count[m.key] == 0 {
					break
				}
				number[key]++
			}
		}
		out = append(out, m)
	}
	return out
}

func checkDuplicates(t *testing.T, line []byte, s *Scratch) {
	t.Helper()
	src := decode(t, line)
	for p := KeepAll; p <= Rename; p++ {
		got := duplicates(nil, line, p, s)
		want := src
		if p != KeepAll {
			want = settle(src, p)
		}
		if o := decode(t, got); len(o)+len(want) > 0 && !reflect.DeepEqual(o, want) {
			t.Fatalf("policy %d\nline %.2000s\ngot  %.2000s\nwant %.2000v", p, line, got, want)
		}
		seen := map[string]bool{}
		for _, m := range want {
			if p != KeepAll && seen[m.key] {
				t.Fatalf("policy %d leaves two keys %q in %s", p, m.key, got)
			}
			seen[m.key] = true
		}
		if again := duplicates(nil, got, p, s); string(again) != string(got) {
			t.Fatalf("policy %d is not idempotent\nonce  %s\ntwice %s", p, got, again)
		}
	}
}

// Around the numbers of fields at which a hash table is used, and at which it
// grows.
func TestDuplicatesOfManyFields(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	var s Scratch
	for _, n := range []int{1, 2, 15, 16, 17, 18, 31, 32, 33, 34, 63, 64, 65, 66, 1000, 10_000} {
		for _, keys := range []int{1, n/3 + 1, 10 * n, 1 << 30} {
			var line []byte
			for i := range n {
				key := r.IntN(keys)
				format := `,"k%d":%d`
				switch r.IntN(8) {
				case 0:
					format = `,"k%d#2":%d`
				case 1:
					format = `,"\u006b%d":%d`
				}
				line = fmt.Appendf(line, format, key, i)
			}
			line[0] = '{'
			checkDuplicates(t, append(line, '}'), &s)
		}
	}
}

// All numbers up to 5,000 are taken: each may be tried once, not once for each
// field that needs one.
func TestRenameWithNumbersTaken(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `,"a#%d":0,"a":%d`, i, i)
	}
	var s Scratch
	line := []byte(`{` + b.String()[1:] + `}`)
	checkDuplicates(t, line, &s)
	if n := decode(t, duplicates(nil, line, Rename, &s))[9999].key; n != "a#9998" {
		t.Errorf("got %s, want a#9998", n)
	}
}

func TestDuplicatesLeavesBrokenLinesAlone(t *testing.T) {
	var s Scratch
	for _, line := range []string{``, `{`, `"`, `{"a`, `{"a":`, `{"a":1`, `{"a":1,"a"`, `{"a":1,"a":2`, `{"a":1,"a":2,`, `{"a":1,}`, `{"a":1,"a":[`, `x`, `{a:1,a:1}`, `{"a":1,"b":2 "a"`} {
		for p := KeepAll; p <= Rename; p++ {
			if got := duplicates(nil, []byte(line), p, &s); string(got) != line {
				t.Errorf("policy %d: got %q, want %q", p, got, line)
			}
		}
	}
}

func FuzzDuplicates(f *testing.F) {
	for _, line := range lineSeeds {
		f.Add(line)
	}
	var s Scratch
	f.Fuzz(func(t *testing.T, src []byte) {
		for p := KeepAll; p <= Rename; p++ {
			duplicates(nil, src, p, &s) // must not panic
		}
		if line := compactObject(src); line != nil {
			checkDuplicates(t, line, &s)
		}
	})
}
