// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
)

// plainOrder is encoded without any method of the user's.
type plainOrder struct {
	ID     uint64         `json:"id"`
	Name   string         `json:"name"`
	Price  float64        `json:"price"`
	Paid   bool           `json:"paid"`
	At     time.Time      `json:"at"`
	Tags   []string       `json:"tags"`
	Buyer  *plainBuyer    `json:"buyer"`
	Counts map[string]int `json:"counts,omitempty"`
	Pair   [2]int         `json:"pair"`
}

type plainBuyer struct {
	Name string `json:"name"`
}

var anOrder = plainOrder{ID: 7, Name: "tea", Price: 2.5, Paid: true, At: time.Unix(1, 0).UTC(),
	Tags: []string{"a", "b"}, Buyer: &plainBuyer{"Ada"}, Pair: [2]int{1, 2}}

// These types implement nib's and other interfaces by value and by pointer.
type (
	byValue   struct{ N int }
	byPointer struct{ N int }
	jsonValue struct{ N int }
	jsonPtr   struct{ N int }
	errValue  struct{ N int }
	lockedPtr struct {
		sync.Mutex
		N int
	}
	panicky struct{ N int }
	month   int

	deepFault struct{ C any }
)

func (v byValue) MarshalNib(e *nib.Event)        { e.Int("by", v.N) }
func (v *byPointer) MarshalNib(e *nib.Event)     { e.Int("by", v.N) }
func (v jsonValue) MarshalJSON() ([]byte, error) { return []byte(fmt.Sprintf("[%d]", v.N)), nil }
func (v *jsonPtr) MarshalJSON() ([]byte, error)  { return []byte(fmt.Sprintf("[%d]", v.N)), nil }
func (v errValue) Error() string                 { return fmt.Sprintf("error %d", v.N) }
func (v *lockedPtr) MarshalJSON() ([]byte, error) {
	v.Lock()
	defer v.Unlock()
	return []byte(fmt.Sprint(v.N)), nil
}
func (panicky) MarshalJSON() ([]byte, error) { panic("no JSON today") }
func (m month) String() string               { return "month" }

func TestValWritesAnyType(t *testing.T) {
	var nilOrder *plainOrder
	text, _ := json.Marshal(anOrder)
	text = bytes.Replace(text, []byte("00:00:01Z"), []byte("00:00:01.000Z"), 1) // as the layout has it
	for name, x := range map[string]struct {
		add  func(e *nib.Event)
		want string
	}{
		"string":       {func(e *nib.Event) { nib.Val(e, "k", "s") }, `"s"`},
		"named string": {func(e *nib.Event) { nib.Val(e, "k", json.Number("12")) }, `12`},
		"int32":        {func(e *nib.Event) { nib.Val(e, "k", int32(-7)) }, `-7`},
		"NaN":          {func(e *nib.Event) { nib.Val(e, "k", math.NaN()) }, `"NaN"`},
		"bool":         {func(e *nib.Event) { nib.Val(e, "k", true) }, `true`},
		"time":         {func(e *nib.Event) { nib.Val(e, "k", time.Unix(1, 5e6).UTC()) }, `"1970-01-01T00:00:01.005Z"`},
		"duration":     {func(e *nib.Event) { nib.Val(e, "k", 1500*time.Microsecond) }, `1.5`},
		"named int":    {func(e *nib.Event) { nib.Val(e, "k", month(3)) }, `3`},
		"struct":       {func(e *nib.Event) { nib.Val(e, "k", anOrder) }, string(text)},
		"pointer":      {func(e *nib.Event) { nib.Val(e, "k", &anOrder) }, string(text)},
		"nil pointer":  {func(e *nib.Event) { nib.Val(e, "k", nilOrder) }, `null`},
		"slice":        {func(e *nib.Event) { nib.Val(e, "k", []plainBuyer{{"x"}}) }, `[{"name":"x"}]`},
		"nil any":      {func(e *nib.Event) { nib.Val[any](e, "k", nil) }, `null`},
		"any":          {func(e *nib.Event) { nib.Val[any](e, "k", 5) }, `5`},
		"error":        {func(e *nib.Event) { nib.Val(e, "k", errors.New("failed")) }, `"failed"`},
		"map":          {func(e *nib.Event) { nib.Val(e, "k", map[string]any{"b": 1, "a": errAny}) }, `{"a":"` + errAny.Error() + `","b":1}`},
		"Marshaler":    {func(e *nib.Event) { nib.Val(e, "k", byValue{1}) }, `{"by":1}`},
		"by pointer":   {func(e *nib.Event) { nib.Val(e, "k", byPointer{1}) }, `{"by":1}`},
		"JSON":         {func(e *nib.Event) { nib.Val(e, "k", jsonValue{1}) }, `[1]`},
		"JSON pointer": {func(e *nib.Event) { nib.Val(e, "k", jsonPtr{1}) }, `[1]`},
		"an error":     {func(e *nib.Event) { nib.Val(e, "k", errValue{1}) }, `"error 1"`},
		"panic":        {func(e *nib.Event) { nib.Val(e, "k", panicky{1}) }, `"!PANIC: no JSON today"`},
		"inside":       {func(e *nib.Event) { nib.Val(e, "k", struct{ P panicky }{}) }, `"!PANIC: no JSON today"`},
		"deep channel": {func(e *nib.Event) { nib.Val(e, "k", []deepFault{{}, {C: make(chan int)}}) }, `"!ERROR: []loggertest_test.deepFault[1].C: json: unsupported type: chan int"`},
		"channel":      {func(e *nib.Event) { nib.Val(e, "k", make(chan int)) }, `"!ERROR: json: unsupported type: chan int"`},
	} {
		if got := value(t, x.add).String(); got != x.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, x.want)
		}
	}
}

type (
	lockedRow  struct{ C lockedPtr }
	lockedRow2 struct {
		A int
		C [2]lockedPtr
	}
	pointedRow struct{ C *lockedPtr }
)

// A copy of a locked lock stays locked: the method that encodes it would never
// return.
func TestNoCopyOfALockIsEncoded(t *testing.T) {
	var v lockedPtr
	var row lockedRow
	var row2 lockedRow2
	v.Lock()
	row.C.Lock()
	row2.C[1].Lock()
	for name, add := range map[string]func(e *nib.Event){
		"Val": func(e *nib.Event) { copyOf(e, &v) }, "Val of a struct": func(e *nib.Event) { copyOf(e, &row) },
		"Inline": func(e *nib.Event) { inlineCopyOf(e, &row) }, "Inline, deeper": func(e *nib.Event) { inlineCopyOf(e, &row2) },
	} {
		l, c := newCapture(t)
		watch(t, func() { add(l.Info()) })
		line := c.one()
		got := line.get("k")
		if got == nil {
			got = line.get("error")
		}
		if got == nil || !strings.Contains(got.text, "lock") || !strings.Contains(got.text, "Object") {
			t.Errorf("%s: got %s\nwant an error that names the lock and Object", name, line)
		}
	}
	for name, make := range map[string]func(){
		"a column": func() { nib.NewTemplate[lockedRow](nib.LevelInfo, "") }, "deeper": func() { nib.NewTemplate[lockedRow2](nib.LevelInfo, "") },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "lock") {
					t.Errorf("NewTemplate, %s: got the panic %q, want a panic about the lock",
						name, text)
				}
			}()
			make()
		}()
	}
	v.Unlock()
	l, c := newCapture(t)
	row3 := nib.NewTemplate[pointedRow](nib.LevelInfo, "")
	row3.Log(t.Context(), l, &pointedRow{&v})
	nib.Inline(l.Info(), pointedRow{&v}).Msg("")
	for _, line := range c.take() {
		if got := line.get("C").String(); got != "0" {
			t.Errorf("a pointer: got %s, want 0", line)
		}
	}
}

// copyOf copies a value that vet would not let its caller copy.
func copyOf[T any](e *nib.Event, v *T)       { nib.Val(e, "k", *v).Msg("") }
func inlineCopyOf[T any](e *nib.Event, v *T) { nib.Inline(e, *v).Msg("") }

func TestValDoesNothingWhenTheLevelIsOff(t *testing.T) {
	var e *nib.Event
	if nib.Val(e, "k", anOrder) != nil || nib.Inline(e, anOrder) != nil {
		t.Error("got an event out of nil")
	}
}

func TestInline(t *testing.T) {
	type clashing struct {
		Time  string `json:"time"`
		Level int    `json:"level"`
		Own   int    `json:"own"`
	}
	type empty struct {
		A int `json:"a,omitempty"`
	}
	for name, x := range map[string]struct {
		add  func(e *nib.Event)
		want string
	}{
		"value":    {func(e *nib.Event) { nib.Inline(e, plainBuyer{"Ada"}) }, `{"level":"info","name":"Ada","message":"m"}`},
		"pointer":  {func(e *nib.Event) { nib.Inline(e, &plainBuyer{"Ada"}) }, `{"level":"info","name":"Ada","message":"m"}`},
		"nil":      {func(e *nib.Event) { nib.Inline(e, (*plainBuyer)(nil)) }, `{"level":"info","message":"m"}`},
		"nothing":  {func(e *nib.Event) { nib.Inline(e, empty{}) }, `{"level":"info","message":"m"}`},
		"reserved": {func(e *nib.Event) { nib.Inline(e, clashing{"t", 1, 2}) }, `{"level":"info","time":"t","field.level":1,"own":2,"message":"m"}`},
		"in a dictionary": {func(e *nib.Event) {
			e.Dict("d", func(e *nib.Event) { nib.Inline(e, clashing{"t", 1, 2}) })
		}, `{"level":"info","d":{"time":"t","level":1,"own":2},"message":"m"}`},
		"marshaler inside": {func(e *nib.Event) { nib.Inline(e, struct{ J jsonValue }{jsonValue{1}}) }, `{"level":"info","J":[1],"message":"m"}`},
		"panic inside":     {func(e *nib.Event) { nib.Inline(e, struct{ A, P panicky }{}) }, `{"level":"info","error":"!PANIC: no JSON today","message":"m"}`},
		"not a struct":     {func(e *nib.Event) { nib.Inline(e, 7) }, `{"level":"info","error":"!ERROR: not a struct, so it has no fields to add","message":"m"}`},
	} {
		var buf bytes.Buffer
		e := timeless(&buf).Info()
		x.add(e)
		e.Msg("m")
		if got := strings.TrimSpace(buf.String()); got != x.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, x.want)
		}
	}
}

// A method that returns the value of a field cannot add fields beside it: they
// would end up inside of the value.
func TestInlineAddsNothingToTheValueOfAnotherField(t *testing.T) {
	var e *nib.Event
	for name, add := range map[string]func(){
		"plain":  func() { nib.Inline(e, plainBuyer{"Ada"}) },
		"method": func() { nib.Inline(e, struct{ J jsonValue }{jsonValue{1}}) },
	} {
		var buf bytes.Buffer
		e = timeless(&buf).Info()
		e.Any("k", []any{1, &trapJSON{add}}).Stringer("s", &trap{add}).Msg("m")
		if got, want := strings.TrimSpace(buf.String()), `{"level":"info","k":[1,1],"s":"s","message":"m"}`; got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

// timeless makes a logger whose lines always look the same.
func timeless(w io.Writer) *nib.Logger {
	return nib.New(w, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
}

func TestValAndInlineDoNotAllocate(t *testing.T) {
	l := nib.New(io.Discard)
	off := nib.New(io.Discard, nib.WithLevel(nib.LevelError))
	n, s := 5, strings.Repeat("x", 33)
	for name, f := range map[string]func(){
		"scalars": func() {
			e := l.Info()
			nib.Val(e, "i", n)
			nib.Val(e, "i8", int8(n))
			nib.Val(e, "s", s)
			nib.Val(e, "d", time.Duration(n))
			nib.Val(e, "m", month(n))
			nib.Val(e, "a", [3]int{n, n, n}).Send()
		},
		"struct":       func() { v := anOrder; v.ID = uint64(n); nib.Val(l.Info(), "k", v).Msg(s) },
		"inline":       func() { v := anOrder; v.ID = uint64(n); nib.Inline(l.Info(), v).Msg(s) },
		"pointer":      func() { nib.Val(l.Info(), "k", &anOrder).Msg(s) },
		"Any pointer":  func() { l.Info().Any("k", &anOrder).Msg(s) },
		"off":          func() { v := anOrder; v.ID = uint64(n); nib.Inline(nib.Val(off.Info(), "k", v), v).Msg(s) },
		"off with box": func() { nib.Val(off.Info(), "k", jsonValue{n}).Msg(s) },
	} {
		t.Run(name, func(t *testing.T) { alloctest.Zero(t, f) })
	}
}

// TestValOnAMovingStack makes the stack grow, and be moved, between encodings
// of values on it, with the collector running all the time.
func TestValOnAMovingStack(t *testing.T) {
	var buf bytes.Buffer
	l := timeless(&buf)
	var grow func(depth int)
	grow = func(depth int) {
		var room [64]int
		for i := range room {
			room[i] = depth
		}
		v := plainOrder{ID: uint64(depth), Name: strings.Repeat("n", depth%7), Tags: []string{fmt.Sprint(depth)}}
		nib.Val(l.Info(), "v", v).Send()
		if depth > 0 {
			if depth%100 == 0 {
				runtime.GC()
			}
			grow(depth - 1)
		}
		if v.ID != uint64(depth) || room[5] != depth {
			t.Errorf("depth %d: the value has changed", depth)
		}
	}
	done := make(chan struct{})
	go func() { defer close(done); grow(1000) }()
	<-done
	for i, line := range strings.Split(strings.TrimSpace(buf.String()), "\n") {
		var got struct{ V plainOrder }
		depth := 1000 - i
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.V.ID != uint64(depth) || got.V.Tags[0] != fmt.Sprint(depth) {
			t.Fatalf("line %d: %v, %s", i, err, line)
		}
	}
}
