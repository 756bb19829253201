// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

// retries returns the log of an hour from begin on. In its minutes 20 to 30
// there are failures, a message is gone, another is ten times as frequent, and
// one is as rare.
func retries(begin time.Time) string {
	var text strings.Builder
	for i := range 3600 {
		at, in := begin.Add(time.Duration(i)*time.Second), i >= 1200 && i < 1800
		line := func(when bool, message string) {
			if when {
				fmt.Fprintf(&text, `{"time":%q,"message":"%s %d","job":%d}`+"\n",
					at.Format(time.RFC3339), message, i, i%2)
			}
		}
		line(true, "request")
		line(in && i%60 == 0, "payment failed")
		line(!in && i%60 == 0, "cache filled")
		line(i%100 == 0 || in && i%10 == 0, "retry")
		line(!in && i%10 == 0 || i%100 == 0, "hit")
	}
	return text.String() + "no time\n"
}

// A range of time is compared with the lines before and after it.
func TestARangeIsCompared(t *testing.T) {
	begin := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	s := run(t, retries(begin))
	type list struct {
		Messages []struct {
			Message, Shown string
			Rate, Rest     float64
		}
		LeftOut int
	}
	at := func(second int) string { return fmt.Sprint(begin.UnixMilli() + int64(second)*1000) }
	for _, c := range []struct {
		query string
		want  [4]string // new, gone, more, less
		lines [2]int
	}{
		{"", [4]string{
			"payment failed * 1.002 0", "cache filled * 0 1",
			"retry * 6.01 0.6002", "hit * 0.601 6.002",
		}, [2]int{600 + 10 + 60 + 6, 3000 + 50 + 30 + 300}},
		{"job = 1", [4]string{}, [2]int{300, 1500}},
		{"message ~ filled", [4]string{1: "cache filled * 0 1.02"}, [2]int{0, 50}},
	} {
		var got struct {
			Lines, Rest           int
			New, Gone, More, Less list
		}
		values := url.Values{"q": {c.query}, "from": {at(1200)}, "to": {at(1800)}}
		if code := s.get("api/compare", values, &got); code != http.StatusOK {
			t.Fatalf("%s: got %d", c.query, code)
		}
		var shown [4]string
		for i, l := range []list{got.New, got.Gone, got.More, got.Less} {
			for _, m := range l.Messages {
				shown[i] += fmt.Sprintf("%s %.4g %.4g", m.Shown, m.Rate, m.Rest)
			}
		}
		if !reflect.DeepEqual(shown, c.want) || [2]int{got.Lines, got.Rest} != c.lines {
			t.Errorf("%s: got %q, %d, %d, want %q, %d",
				c.query, shown, got.Lines, got.Rest, c.want, c.lines)
		}
	}
	var failed struct{ Problem string }
	for _, values := range []url.Values{{}, {"from": {at(9)}, "to": {at(9)}}} {
		code := s.get("api/compare", values, &failed)
		if code != http.StatusBadRequest ||
			failed.Problem != "there is no range of time to compare" {
			t.Errorf("%v: got %d, %s", values, code, failed.Problem)
		}
	}
}
