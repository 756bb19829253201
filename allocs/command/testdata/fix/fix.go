// SPDX-License-Identifier: Apache-2.0

// Package fix has one function for every edit that allocs --fix knows.
package fix

import (
	"bytes"
	"fmt"
	"log/slog"
	"regexp"
	"sort"
	"strings"
	"sync"
	"time"
)

//alloc:max=99
func Stamp(b []byte, t time.Time) []byte {
	return append(b, t.Format(time.RFC3339)...)
}

//alloc:max=99
func Append(b []byte, id int, name string) []byte {
	return append(b, fmt.Sprintf("id=%d name=%s", id, name)...)
}

//alloc:max=99
func Print(buf *bytes.Buffer, id int, name string) {
	fmt.Fprintf(buf, "id=%d name=%s", id, name)
}

//alloc:max=99
func IsGet(b []byte) bool {
	return strings.HasPrefix(string(b), "GET ")
}

//alloc:max=99
func Double(in []int) []int {
	out := []int{}
	for _, v := range in {
		out = append(out, 2*v)
	}
	return out
}

//alloc:max=99
func Name(s string, n int) string {
	return fmt.Sprintf("%s-%d", s, n)
}

//alloc:max=99
func Same(b []byte, s string) bool {
	text := string(b)
	return text == s
}

//alloc:max=99
func Match(s string) bool {
	return regexp.MustCompile(`^a+$`).MatchString(s)
}

//alloc:max=99
func Sort(list []string) {
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
}

//alloc:max=99
func Copy(buf *bytes.Buffer, b []byte) {
	buf.WriteString(string(b))
}

var lines = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

//alloc:max=99
func Pooled(text string) int {
	b := (*lines.Get().(*[]byte))[:0]
	b = append(b, text...)
	n := len(b)
	lines.Put(&b)
	return n
}

//alloc:max=99
func Log(l *slog.Logger, n int, s string) {
	l.Debug("m", "n", n, "s", s)
}
