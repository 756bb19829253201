// SPDX-License-Identifier: Apache-2.0

package sample

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	quiet   = slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError}))
	loud    = slog.New(slog.NewJSONHandler(io.Discard, nil))
	byValue = sync.Pool{New: func() any { return make([]byte, 0, 64) }}
	byPtr   = sync.Pool{New: func() any { b := make([]byte, 0, 64); return &b }}
	berlin  = time.FixedZone("x", 3600)
	moment  = time.Unix(1700000000, 0)
	ctx     = context.WithValue(context.Background(), key{}, 1)
	errBase = errors.New("base")
	table   = map[string]int{"a": 1, "b": 2, "c": 3, "d": 4}
	n20     = 20
	n200    = 200
	n1000   = 1000
	n7      = 7
	text5   = "hello"
	text40  = strings.Repeat("x", 40)
	raw5    = []byte("hello")
	raw40   = []byte(strings.Repeat("y", 40))
	reused  = make([]byte, 0, 4096)
	kept    = map[int]int{}
	loc     *time.Location
)

type key struct{}

//go:noinline
func leafAppend(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

//go:noinline
func consume(args ...any) int {
	n := 0
	for _, a := range args {
		switch x := a.(type) {
		case int:
			n += x
		case string:
			n += len(x)
		}
	}
	return n
}

//go:noinline
func apply(f func(int) int) int { return f(1) }

//alloc:none
func C01EventEnabled() {
	start(enabled).
		Str("a", text5).
		Int("b", n1000).
		Msg("m")
}

//alloc:none
func C02EventDisabled() {
	start(disabled).Str("a", text5).Int("b", n1000).Msg("m")
}

//alloc:none
func C03AnyInt() {
	start(enabled).
		Any("k", n1000).
		Msg("m")
}

//alloc:none
func C04AnyStringer() {
	start(enabled).
		Any("k", stringer{n1000, 2}).
		Msg("m")
}

//alloc:none
func C05AnyDisabled() {
	start(disabled).
		Any("k", n1000).
		Msg("m")
}

//alloc:none
func C06VariadicInterface() {
	take.Take(
		"n",
		n1000,
		text5)
}

//alloc:none
func C07VariadicInterfaceDisabled() {
	args(disabled, n1000, text5)
}

//go:noinline
func args(on bool, a ...any) {
	if on {
		take.Take(a...)
	}
}

//alloc:none
func C08VariadicConcrete() {
	numOut = consume(n1000, text5)
}

//alloc:none
func C09FieldsInterface() {
	write(Field{Key: "n", Num: n1000}, Field{Key: "s", Str: text5})
}

func write(fs ...Field) { fields.Fields(fs) }

//alloc:none
func C10FieldsConcrete() {
	fs := []Field{{Key: "n", Num: n1000}, {Key: "s", Str: text5}}
	concrete.Fields(fs)
}

//alloc:none
func C11SlogDisabledPairs() {
	quiet.Debug("m", "n", n1000, "s", text5)
}

//alloc:none
func C12SlogDisabledAttrs() {
	quiet.Debug("m", slog.Int("n", n1000), slog.String("s", text5))
}

//alloc:none
func C13SlogDisabledLogAttrs() {
	quiet.LogAttrs(ctx, slog.LevelDebug, "m", slog.Int("n", n1000), slog.String("s", text5))
}

//alloc:none
func C14SlogFive() {
	loud.LogAttrs(ctx, slog.LevelInfo, "m", slog.Int("a", 1), slog.Int("b", 2), slog.Int("c", 3), slog.Int("d", 4), slog.Int("e", 5))
}

//alloc:none
func C15SlogSix() {
	loud.LogAttrs(ctx, slog.LevelInfo, "m", slog.Int("a", 1), slog.Int("b", 2), slog.Int("c", 3), slog.Int("d", 4), slog.Int("e", 5), slog.Int("f", 6))
}

//alloc:none
func C16PoolByValue() {
	b := byValue.Get().([]byte)
	b = append(b[:0], text5...)
	byValue.Put(b)
}

//alloc:none
func C17PoolPointer() {
	p := byPtr.Get().(*[]byte)
	*p = append((*p)[:0], text5...)
	byPtr.Put(p)
}

//alloc:none
func C18PoolNewHeader() {
	b := *byPtr.Get().(*[]byte)
	b = append(b[:0], text5...)
	byPtr.Put(&b)
}

//alloc:none
func C19StackToInterface() {
	var b [64]byte
	out.Write(b[:])
}

//alloc:none
func C20StackToConcrete() {
	var b [64]byte
	concrete.Write(b[:])
}

//alloc:none
func C21MakeVariableSmall() {
	b := make([]byte, 0, n20)
	numOut = cap(b)
}

//alloc:none
func C22MakeVariableLarge() {
	b := make([]byte, 0, n200)
	numOut = cap(b)
}

//alloc:none
func C23AppendLocalFour() {
	var s []int64
	for i := range 4 {
		s = append(s, int64(i))
	}
	numOut = int(s[3])
}

//alloc:none
func C24AppendLocalNine() {
	var s []int64
	for i := range 9 {
		s = append(s, int64(i))
	}
	numOut = int(s[8])
}

//go:noinline
func four() []int64 {
	var s []int64
	for i := range 4 {
		s = append(s, int64(i))
	}
	return s
}

//alloc:none
func C25AppendReturned() {
	numbers = four()
}

//alloc:none
func C26AppendThroughCallee() {
	var b []byte
	b = append(b, 'x')
	b = leafAppend(b, n1000)
	numOut = len(b)
}

//alloc:none
func C27AppendReused() {
	reused = append(reused[:0], text40...)
}

//alloc:none
func C28BoxedConstant() {
	v := 1000
	take.Take(v)
}

//alloc:none
func C29SortedKeys() {
	keys := make([]string, 0, 4)
	for k := range table {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	numOut = len(keys)
}

//alloc:none
func C30ClosureNotKept() {
	n := n1000
	numOut = apply(func(i int) int { return i + n })
}

//alloc:none
func C31ClosureKept() {
	n := n1000
	funcOut = func() int { return n }
}

//alloc:none
func C32MethodValueKept() {
	funcOut = concrete.count
}

func (s *sink) count() int { return s.n }

//alloc:none
func C33Goroutine() {
	var wg sync.WaitGroup
	wg.Add(1)
	go wg.Done()
	wg.Wait()
}

//alloc:none
func C34LoadLocation() {
	loc, _ = time.LoadLocation("Europe/Berlin")
}

//alloc:none
func C35CachedLocation() {
	numOut = moment.In(berlin).Hour()
}

//alloc:none
func C36TimeFormat() {
	textOut = moment.Format(time.RFC3339)
}

//alloc:none
func C37TimeAppendFormat() {
	reused = moment.AppendFormat(reused[:0], time.RFC3339)
}

//alloc:none
func C38Sprintf() {
	textOut = fmt.Sprintf("%d %s", n1000, text5)
}

//alloc:none
func C39Appendf() {
	reused = fmt.Appendf(reused[:0], "%d %s", n1000, text5)
}

//alloc:none
func C40Itoa() {
	textOut = strconv.Itoa(n1000)
}

//alloc:none
func C41StringSmallLocal() {
	s := string(raw5)
	numOut = strings.Count(s, "l")
}

//alloc:none
func C42StringLargeLocal() {
	s := string(raw40)
	numOut = strings.Count(s, "l")
}

//alloc:none
func C43ConcatSmallLocal() {
	s := text5 + "-" + text5
	numOut = strings.Count(s, "l")
}

//alloc:none
func C44ConcatLargeLocal() {
	s := text5 + "-" + text40
	numOut = strings.Count(s, "l")
}

//alloc:none
func C45BoxLarge() {
	anything = n1000
}

//alloc:none
func C46BoxSmall() {
	anything = n7
}

func typed[T any](v T) int {
	switch any(v).(type) {
	case int:
		return 1
	case string:
		return 2
	}
	return 3
}

//alloc:none
func C47GenericSwitch() {
	numOut = typed(n1000) + typed(text5)
}

//alloc:none
func C48ContextStruct() {
	anything = ctx.Value(key{})
}

type intKey int

//alloc:none
func C49ContextInt() {
	anything = ctx.Value(intKey(n1000))
}

//alloc:none
func C50ErrorsIs() {
	if errors.Is(errBase, io.EOF) {
		numOut++
	}
}

//alloc:none
func C51Errorf() {
	anything = fmt.Errorf("more: %w", errBase)
}

//alloc:none
func C52Caller() {
	_, file, line, _ := runtime.Caller(0)
	textOut, numOut = file, line
}

//alloc:none
func C53Callers() {
	var pcs [1]uintptr
	numOut = runtime.Callers(1, pcs[:])
}

//alloc:none
func C54PanicPath() {
	if n7 > 100 {
		panic(fmt.Sprintf("bad %d", n7))
	}
}

//alloc:none
func C55ErrorPath() {
	if err := fails(n7); err != nil {
		numOut++
	}
}

//go:noinline
func fails(n int) error {
	if n > 100 {
		return fmt.Errorf("too much: %d", n)
	}
	return nil
}

//alloc:none
func C56MapInsertSteady() {
	kept[n7]++
}

//alloc:none
func C57MapFresh() {
	m := map[int]int{}
	for i := range 20 {
		m[i] = i
	}
	numOut = len(m)
}

//alloc:none
func C58MovedToHeap() {
	x := n1000
	ptrOut = &x
}
