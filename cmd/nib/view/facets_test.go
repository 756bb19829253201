// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nib-log/nib/internal/logread"
)

// facetsOf counts lines.
func facetsOf(lines ...string) []facet {
	var f facets
	var l logread.Line
	for _, text := range lines {
		l.Reset([]byte(text))
		f.add(&l)
	}
	list, _ := f.top()
	return list
}

func facetNamed(t *testing.T, list []facet, key string) facet {
	t.Helper()
	i := slices.IndexFunc(list, func(f facet) bool { return f.Key == key })
	if i < 0 {
		t.Fatalf("there is no key %q in %+v", key, list)
	}
	return list[i]
}

func TestValuesHaveTheirErrors(t *testing.T) {
	var lines []string
	for i := range 30 {
		level := "info"
		if i%3 == 0 && i < 15 {
			level = "error"
		}
		lines = append(lines, fmt.Sprintf(`{"level":%q,"tenant":"t-%d"}`, level, i%3))
	}
	got := facetNamed(t, facetsOf(lines...), "tenant")
	want := []facetValue{{"t-0", "t-0", 10, 5, true}, {"t-1", "t-1", 10, 0, false}, {"t-2", "t-2", 10, 0, false}}
	if got.Lines != 30 || got.Kinds != 3 || !slices.Equal(got.Values, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A value that few lines have is among the first if its lines fail more often
// than others.
func TestAValueWhoseLinesFailIsShown(t *testing.T) {
	var lines []string
	for i := range 3000 {
		tenant, level := fmt.Sprintf("t-%d", i%30), "info"
		switch {
		case i%300 == 299:
			tenant, level = "t-bad", "error"
		case i%97 == 7:
			level = "error"
		}
		lines = append(lines, fmt.Sprintf(`{"level":%q,"tenant":%q,"host":"h-%d"}`, level, tenant, i%2))
	}
	list := facetsOf(lines...)
	got := facetNamed(t, list, "tenant").Values
	if want := (facetValue{"t-bad", "t-bad", 10, 10, true}); len(got) != topValues || got[topValues-1] != want {
		t.Errorf("got %+v, want %+v as the last", got, want)
	}
	for _, v := range append(got[:topValues-1], facetNamed(t, list, "host").Values...) {
		if v.Stands {
			t.Errorf("%+v stands out", v)
		}
	}
}

// The message comes first, under whatever key a line has it.
func TestMessagesAreCounted(t *testing.T) {
	list := facetsOf(`level=info a=x msg=served`, `{"level":"info","a":"x","body":"served"}`, `{"a":"x","message":{"b":1}}`, "served")
	if got := list[0]; got.Role != "message" || !slices.Equal(got.Values, []facetValue{{"served", "served", 2, 0, false}}) || list[1].Key != "a" {
		t.Errorf("got %+v", list)
	}
}

func TestNumbersHavePercentiles(t *testing.T) {
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf(`{"took":%d.5,"wait":"%dms","status":%d,"request_id":%d,"text":"%d"}`, i, i, 200+i%2, i, i))
	}
	list := facetsOf(append(lines, `{"took":null}`)...)
	for key, unit := range map[string]string{"took": "", "wait": "ms"} {
		got := facetNamed(t, list, key)
		if got.Numbers == nil || got.Numbers.Unit != unit || len(got.Numbers.At) != 4 || len(got.Values) != 0 {
			t.Fatalf("%s: got %+v", key, got)
		}
		for _, p := range got.Numbers.At {
			if want := p[0] * 10; math.Abs(p[1]-want) > 0.02*want {
				t.Errorf("%s: got %v for %v percent, want %v", key, p[1], p[0], want)
			}
		}
	}
	if got := facetNamed(t, list, "status"); got.Numbers != nil || len(got.Values) != 2 {
		t.Errorf("got %+v, want the values of a key that has few", got)
	}
	for _, key := range []string{"request_id", "text"} {
		if slices.ContainsFunc(list, func(f facet) bool { return f.Key == key }) {
			t.Errorf("%s is shown: it has names of things", key)
		}
	}
}

// Every number that a log may have can be sent to the page.
func TestNumbersThatJSONDoesNotHave(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("level=info n=%d.25 f=-Inf g=NaN h=1e999", i))
	}
	list := facetsOf(lines...)
	if got := facetNamed(t, list, "n"); got.Numbers == nil {
		t.Errorf("got %+v", got)
	}
	if _, err := json.Marshal(list); err != nil {
		t.Error(err)
	}
}

func TestTheReasonOfAnErrorComesFirst(t *testing.T) {
	var l logread.Line
	l.Reset([]byte(`{"level":"error","a":1,"b":2,"error":"broken pipe","message":"m"}`))
	if got, want := newRow(0, &l).Fields, [][2]string{{"error", "broken pipe"}, {"a", "1"}, {"b", "2"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The page has keys and values that a query can have: others would be equal in
// JSON, which is UTF-8.
func TestKeysAndValuesThatNoQueryCanHave(t *testing.T) {
	var got []string
	for _, f := range facetsOf("k\xff=1 k\xfe=2 v=\xff w=\xff a`b=1", "k\xff=1 k\xfe=2 v=\xfe w=x", `{"":1,"w":"x"}`) {
		got = append(got, f.Key)
		for _, v := range f.Values {
			got = append(got, v.Text)
		}
	}
	if want := []string{"w", "x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
