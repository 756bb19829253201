// SPDX-License-Identifier: Apache-2.0

package niblogrus_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/nib-log/nib/internal/must"
	"github.com/sirupsen/logrus"
)

// A source makes an entry from arbitrary bytes, and the value that a reader of
// the line must get for each.
type source struct {
	data   []byte
	loses  bool // logrus has no line for it, or not these values
	nested int
}

func (s *source) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

func (s *source) text() string {
	n := min(int(s.byte()), len(s.data))
	t := string(s.data[:n])
	s.data = s.data[n:]
	return t
}

func (s *source) uint64() uint64 {
	var b [8]byte
	s.data = s.data[copy(b[:], s.data):]
	return binary.LittleEndian.Uint64(b[:])
}

// key often returns a key that the formatter uses itself.
func (s *source) key() string {
	used := []string{"msg", "level", "time", "fields.msg", "fields.fields.msg", "error", "task_id", "service", "logrus_error", "func"}
	if b := s.byte(); int(b) < 2*len(used) {
		return used[b/2]
	}
	return s.text()
}

// text8 returns s as valid UTF-8.
func text8(s string) string { return string([]rune(s)) }

func (s *source) fields() (data logrus.Fields, want map[string]any) {
	data, want = logrus.Fields{}, map[string]any{}
	for range s.byte() % 16 {
		k := s.key()
		if _, ok := want[text8(k)]; !ok {
			data[k], want[text8(k)] = s.value()
		}
	}
	return data, want
}

func (s *source) value() (v, want any) {
	s.nested++
	defer func() { s.nested-- }()
	kind := s.byte() % 14
	if s.nested > 8 {
		kind %= 9
	}
	switch kind {
	case 0:
		t := s.text()
		return t, text8(t)
	case 1:
		n := int64(s.uint64())
		return n, json.Number(strconv.FormatInt(n, 10))
	case 2:
		n := s.uint64()
		return n, json.Number(strconv.FormatUint(n, 10))
	case 3:
		return s.float()
	case 4:
		b := s.byte()&1 == 1
		return b, b
	case 5:
		return nil, nil
	case 6:
		b := []byte(s.text())
		return b, base64.StdEncoding.EncodeToString(b)
	case 7:
		d := time.Duration(s.uint64())
		return d, json.Number(strconv.FormatInt(int64(d), 10))
	case 8:
		t := time.Unix(int64(uint32(s.uint64())), int64(s.byte())*3e6).In(tokyo)
		return t, t.Format(time.RFC3339Nano)
	case 9:
		t := s.text()
		s.loses = s.loses || s.nested > 1
		return errors.New(t), text8(t)
	case 10:
		s.loses = true
		return make(chan bool), anError{}
	case 11:
		f, want := s.fields()
		return f, want
	case 12:
		f, want := s.fields()
		return map[string]any(f), want
	default:
		list, want := []any{}, []any{}
		for range s.byte() % 8 {
			v, w := s.value()
			list, want = append(list, v), append(want, w)
		}
		return list, want
	}
}

func (s *source) float() (v, want any) {
	f := math.Float64frombits(s.uint64())
	switch {
	case math.IsNaN(f):
		s.loses = true
		return f, "NaN"
	case math.IsInf(f, 0):
		s.loses = true
		return f, map[bool]string{true: "+Inf", false: "-Inf"}[f > 0]
	}
	return f, f
}

// anError is expected where a text must describe an error.
type anError struct{}

// sameValue compares the value read with the expected one.
func sameValue(got, want any) bool {
	switch want := want.(type) {
	case anError:
		s, ok := got.(string)
		return ok && strings.HasPrefix(s, "!ERROR: ")
	case float64:
		n, ok := got.(json.Number)
		f, err := strconv.ParseFloat(string(n), 64)
		return ok && err == nil && math.Float64bits(f) == math.Float64bits(want)
	case map[string]any:
		m, ok := got.(map[string]any)
		if !ok || len(m) != len(want) {
			return false
		}
		for k, w := range want {
			if v, ok := m[k]; !ok || !sameValue(v, w) {
				return false
			}
		}
		return true
	case []any:
		l, ok := got.([]any)
		if !ok || len(l) != len(want) {
			return false
		}
		for i, w := range want {
			if !sameValue(l[i], w) {
				return false
			}
		}
		return true
	}
	return got == want
}

// rename moves the fields whose keys the formatter uses, as documented, and
// reports whether logrus would lose one of two.
func rename(want map[string]any, used ...string) (clash bool) {
	moved := make(map[string]any)
	for _, k := range used {
		if v, ok := want[k]; ok {
			delete(want, k)
			moved[k] = v
		}
	}
	for k, v := range moved {
		k = "fields." + k
		for want[k] != nil || has(want, k) {
			k = "fields." + k
			clash = true
		}
		want[k] = v
	}
	return clash
}

func has(m map[string]any, k string) bool { _, ok := m[k]; return ok }

// read reads a line that must be one JSON object.
func read(t *testing.T, line []byte) (fields map[string]any) {
	body, ok := bytes.CutSuffix(line, []byte("\n"))
	if !ok || bytes.ContainsAny(body, "\n\r") || !json.Valid(body) {
		t.Fatalf("got %q, want one line of JSON", line)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&fields); err != nil {
		t.Fatalf("got %q: %v", line, err)
	}
	return fields
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte("hello"), "message", uint32(4), int64(1767324605), true)
	f.Add([]byte("\x0f\x00\x00\x03one\x06\x01\x02\x03\x04\x05\x06\x07\x08\x0a\x0b\x02\x00\x09\x03abc\x0c\x0d\x03\x09\x01x\x03\x00\x00\x00\x00\x00\x00\xf8\x7f"), "a\nb", uint32(9), int64(-1), false)
	f.Add(bytes.Repeat([]byte("\x0b\x07\x06\x01\x08\x03\x0d\x05"), 30), "\xff", uint32(0), int64(0), true)
	f.Add(bytes.Repeat([]byte{0x0f, 0x28, 2, 'a', 0, 0x0c}, 40), "", uint32(6), int64(1)<<40, false)
	plain := &niblogrus.Formatter{}
	f.Fuzz(func(t *testing.T, data []byte, msg string, level uint32, sec int64, fixed bool) {
		s := &source{data: data}
		fields, want := s.fields()
		e := &logrus.Entry{Data: fields, Message: msg, Level: logrus.Level(level), Time: time.Unix(sec%(1<<37), 0).In(tokyo)}
		head := map[string]any{"level": e.Level.String(), "msg": text8(msg)}
		formatter, used := plain, []string{"level", "msg", "time", "logrus_error"}
		if fixed {
			formatter, used = topic(), []string{"level", "msg", "log_date", "logrus_error", "service"}
			head["service"], head["log_date"] = "billing", e.Time.Format("2006-01-02 15:04:05.000")
			if !has(want, "task_id") {
				want["task_id"] = ""
			}
		} else {
			head["time"] = e.Time.Format(time.RFC3339)
		}
		clash := rename(want, used...)
		for k, v := range head {
			want[k] = v
		}
		line, err := formatter.Format(e)
		must.Succeed(t, err)
		got := read(t, line)
		if !sameValue(got, want) {
			t.Fatalf("got  %q\nwant %v", line, want)
		}
		if s.loses || clash || fixed {
			return
		}
		theirs, err := (&logrus.JSONFormatter{}).Format(e)
		must.Succeed(t, err)
		if !sameNumbers(got, read(t, theirs)) {
			t.Fatalf("got  %q\nwant %q", line, theirs)
		}
	})
}

// sameNumbers compares two lines: a number may be spelled in two ways.
func sameNumbers(a, b any) bool {
	switch b := b.(type) {
	case json.Number:
		n, ok := a.(json.Number)
		if !ok || n == b {
			return ok
		}
		x, errX := n.Float64()
		y, errY := b.Float64()
		return errX == nil && errY == nil && x == y
	case map[string]any:
		m, ok := a.(map[string]any)
		for k := range b {
			ok = ok && has(m, k) && sameNumbers(m[k], b[k])
		}
		return ok && len(m) == len(b)
	case []any:
		l, ok := a.([]any)
		ok = ok && len(l) == len(b)
		for i := 0; ok && i < len(b); i++ {
			ok = sameNumbers(l[i], b[i])
		}
		return ok
	}
	return a == b
}
