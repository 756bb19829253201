// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/sirupsen/logrus"
)

func TestPrefixKeepsTheOrderOfKeys(t *testing.T) {
	keys := []string{""}
	const letters = "\x00\x01a\x7f\x80\xff"
	for n := 1; n <= 3; n++ {
		for i := range pow(len(letters), n) {
			var b []byte
			for j := i; len(b) < n; j /= len(letters) {
				b = append(b, letters[j%len(letters)])
			}
			keys = append(keys, string(b))
		}
	}
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	for range 500 {
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		keys = append(keys, string(b))
	}
	for _, a := range keys {
		for _, b := range keys {
			for _, p := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {maxPosition - 1, maxPosition}, {maxPosition + 1, 1 << 20}} {
				got := cmp.Compare(sortable(p[0], a), sortable(p[1], b))
				want := cmp.Compare(min(p[0], maxPosition), min(p[1], maxPosition))
				if want == 0 {
					want = strings.Compare(first(a), first(b))
				}
				if got != want {
					t.Fatalf("%q at %d and %q at %d: got %d, want %d", a, p[0], b, p[1], got, want)
				}
			}
		}
	}
}

func pow(x, n int) int {
	if n == 0 {
		return 1
	}
	return x * pow(x, n-1)
}

// first returns the part of a key that its number has, with zeros behind.
func first(key string) string { return (key + strings.Repeat("\x00", prefixLen))[:prefixLen] }

// TestListSorts checks both algorithms, whatever order the items come in.
func TestListSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	for _, n := range []int{0, 1, 2, few - 1, few, few + 1, 200} {
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("%x", i*i*i*i))
		}
		slices.Sort(want)
		for range 20 {
			var l list
			for _, i := range r.Perm(n) {
				l.field(0, want[i], nil)
			}
			l.sort()
			l.separate(func(string) int { return 0 })
			if got := l.keys(); !slices.Equal(got, want) {
				t.Fatalf("%d items: got %q, want %q", n, got, want)
			}
		}
	}
}

func (l *list) keys() (keys []string) {
	for _, p := range l.order {
		keys = append(keys, l.items[p.at].key)
	}
	return keys
}

func TestListGivesEachItemAKeyOfItsOwn(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	for _, n := range []int{1, few / 2, 3 * few} {
		var items []item
		for i := range n {
			items = append(items, item{key: "a", text: fmt.Sprint(i), claim: renamed})
		}
		items = append(items, item{key: "a", claim: own}, item{key: "a", claim: filler}, item{key: "a", claim: filler}, item{key: "b", claim: filler})
		var want []string
		for i := 0; len(want) < n+1; i++ {
			want = append(want, strings.Repeat(clashPrefix, i)+"a")
		}
		want = append(want, "b")
		slices.Sort(want)
		var first string
		for range 10 {
			var l list
			for _, i := range r.Perm(len(items)) {
				l.add(0, items[i])
			}
			l.sort()
			l.separate(func(string) int { return 0 })
			got := l.keys()
			if !slices.Equal(got, want) {
				t.Fatalf("got %q, want %q", got, want)
			}
			texts := ""
			for _, p := range l.order {
				texts += l.items[p.at].text + ","
			}
			if first == "" {
				first = texts
			}
			if texts != first {
				t.Fatalf("who gets which key depends on the order of the items:\n got %s\nwant %s", texts, first)
			}
		}
	}
}

func TestListIsEmptyAfterwards(t *testing.T) {
	var l list
	for i := range keepItems + 1 {
		l.field(0, fmt.Sprint(i), i)
	}
	l.reset()
	if len(l.items) != 0 || len(l.order) != 0 || cap(l.items) > keepItems {
		t.Errorf("got %d items, %d places and room for %d, want none", len(l.items), len(l.order), cap(l.items))
	}
	l.field(0, "a", "secret")
	l.reset()
	if got := l.items[:1][0]; got != (item{}) {
		t.Errorf("got %v behind the end, want nothing", got)
	}
}

func TestWriterForgetsTheMessage(t *testing.T) {
	w := newWriter(newPlan(new(Formatter)))
	if line := w.write(&logrus.Entry{Message: "secret", Buffer: new(bytes.Buffer)}); !strings.Contains(string(line), "secret") {
		t.Fatalf("got %q, want the message in it", line)
	}
	for _, it := range w.list.items {
		if it.text == "secret" || w.line != nil || w.buffer != nil {
			t.Errorf("the writer still has the message or the buffer after its line")
		}
	}
}

// A key of Always that the line has already is no item of the line, although
// the list has it.
func TestFieldsAreLeftOutBesideKeysThatAreThereTwice(t *testing.T) {
	f := &Formatter{
		Always: []string{"time", "level", "a", "a"},
		Rename: map[string]string{"x": nib.OmitKey, "y": nib.OmitKey, "b": "c"},
	}
	for _, c := range []struct {
		data logrus.Fields
		want string
	}{
		{logrus.Fields{"x": 1}, `{"a":"","level":"info","msg":"m","time":"0001-01-01T00:00:00Z"}`},
		{logrus.Fields{"x": 1, "b": 2, "y": 3, "d": 4}, `{"a":"","c":2,"d":4,"level":"info","msg":"m","time":"0001-01-01T00:00:00Z"}`},
		{nil, `{"a":"","level":"info","msg":"m","time":"0001-01-01T00:00:00Z"}`},
	} {
		got, err := f.Format(&logrus.Entry{Level: logrus.InfoLevel, Message: "m", Data: c.data})
		if err != nil || string(got) != c.want+"\n" {
			t.Errorf("%v: got %s, %v\nwant %s", c.data, got, err, c.want)
		}
	}
}
