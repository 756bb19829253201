// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/schema"
)

type user struct {
	ID    int64
	Name  string
	Roles []string          `json:"roles,omitempty"`
	Attrs map[string]string `json:"attrs"`
	Boss  *user             `json:",omitempty"`
	Seen  time.Time
}

func TestCodecAgainstEncodingJSON(t *testing.T) {
	u := &user{7, "Ada", []string{"a", "b"}, map[string]string{"y": "1", "x": "2"}, &user{Name: "Boss"}, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
	want, err := json.Marshal(u)
	must.Succeed(t, err)
	got, err := schema.MustFor[user]().AppendJSON([]byte("> "), u)
	if err != nil || string(got) != "> "+string(want) {
		t.Errorf("got  %s, %v\nwant > %s", got, err, want)
	}
	var back user
	if err := json.Unmarshal(got[2:], &back); err != nil || !reflect.DeepEqual(&back, u) {
		t.Errorf("got %+v and %v back, want %+v", back, err, u)
	}
	if got, err := schema.AppendAny(nil, u); err != nil || string(got) != string(want) {
		t.Errorf("AppendAny: got %s, %v", got, err)
	}
	if got, err := schema.AppendMap(nil, map[string]any{"u": u, "a": nil}); err != nil || string(got) != `{"a":null,"u":`+string(want)+"}" {
		t.Errorf("AppendMap: got %s, %v", got, err)
	}
}

// counter is encoded by a method with a pointer receiver.
type counter struct{ calls int }

func (c *counter) MarshalJSON() ([]byte, error) { c.calls++; return []byte(`"called"`), nil }

func TestPointersIntoTheValue(t *testing.T) {
	v := &struct{ A, B counter }{}
	got, err := schema.MustFor[struct{ A, B counter }]().AppendJSON(nil, v)
	if err != nil || string(got) != `{"A":"called","B":"called"}` || v.A.calls != 1 || v.B.calls != 1 {
		t.Errorf("got %s, %v and %+v, want the methods called on the fields themselves", got, err, v)
	}
}

func TestNil(t *testing.T) {
	if got, err := schema.MustFor[user]().AppendJSON(nil, nil); err != nil || string(got) != "null" {
		t.Errorf("nil pointer: got %s, %v", got, err)
	}
	if got, err := schema.AppendAny(nil, nil); err != nil || string(got) != "null" {
		t.Errorf("nil interface: got %s, %v", got, err)
	}
	if got, err := schema.AppendMap(nil, nil); err != nil || string(got) != "null" {
		t.Errorf("nil map: got %s, %v", got, err)
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("cause")
	codec := schema.MustFor[[]any]()
	got, err := codec.AppendJSON([]byte("kept"), &[]any{1, refusing{cause}})
	var e *schema.Error
	if !errors.As(err, &e) || !errors.Is(err, cause) || e.Path != "[]interface {}[1]" || string(got) != "kept" {
		t.Errorf("got %s and %v", got, err)
	}
	if _, err := schema.For[func()](); err == nil {
		t.Error("got a codec for functions")
	}
	defer func() {
		if r, ok := recover().(error); !ok || !strings.HasPrefix(r.Error(), "nib/schema: ") {
			t.Errorf("got panic %v, want the error of For", r)
		}
	}()
	schema.MustFor[chan int]()
}

type refusing struct{ err error }

func (r refusing) MarshalText() ([]byte, error) { return nil, r.err }

func TestNoAllocations(t *testing.T) {
	codec := schema.MustFor[user]()
	u := &user{7, "Ada", []string{"a", "b"}, map[string]string{"y": "1", "x": "2"}, &user{Name: "Boss"}, time.Now()}
	m := map[string]any{"user": u, "n": 1, "list": []int{1, 2}, "deep": map[string]any{"a": 1.5}}
	dst := make([]byte, 0, 4096)
	alloctest.Zero(t, func() { _, _ = codec.AppendJSON(dst, u) })
	alloctest.Zero(t, func() { _, _ = schema.AppendMap(dst, m) })
	alloctest.Zero(t, func() { _, _ = schema.AppendAny(dst, u) })
}
