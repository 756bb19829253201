// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery/httpsend"
)

const refusedItem = `{"create":{"status":400,"error":{"type":"mapper_parsing_exception","reason":"r"}}}`

// answer reads a response with an item for each record: so many refused ones,
// and then the others.
func answer(d *Destination, refused int, others ...string) error {
	items := make([]string, refused, refused+len(others))
	for i := range items {
		items[i] = refusedItem
	}
	items = append(items, others...)
	d.states, d.sent = make([]state, len(items)), nil
	for i := range items {
		d.sent = append(d.sent, i)
	}
	body := `{"items":[` + strings.Join(items, ",") + `]}`
	_, err := d.read(httpsend.Response{Status: 200, Body: []byte(body)})
	return err
}

// A server that has accepted nothing and refuses all of many records may have
// no index. If it treats one of them otherwise, the refusal is about records.
func TestEachOfManyIsRefused(t *testing.T) {
	const busy = `{"create":{"status":429,"error":{"type":"es_rejected_execution_exception","reason":"r"}}}`
	for _, c := range []struct {
		name    string
		refused int
		others  []string
		all     bool // the answer is about the index
	}{
		{"one less than many", maxUnproven - 1, nil, false},
		{"many", maxUnproven, nil, true},
		{"one more", maxUnproven + 1, nil, true},
		{"all but one, which waits", maxUnproven, []string{busy}, false},
		{"all but one, which is stored", maxUnproven, []string{`{"create":{"status":201}}`}, false},
		{"all but one, which was there", maxUnproven, []string{`{"create":{"status":409}}`}, false},
	} {
		d := new(Destination)
		err := answer(d, c.refused, c.others...)
		if got := errors.Is(err, errAllFailed); got != c.all {
			t.Errorf("%s: got %v", c.name, err)
		}
		for i := range c.refused {
			if d.states[i].settled == c.all {
				t.Errorf("%s: record %d: got settled %v", c.name, i, d.states[i].settled)
			}
		}
	}
}

// A limit that was lowered doubles until it is MaxRequest again.
func TestLimitRisesToMaxRequest(t *testing.T) {
	long := time.Now().Add(-2 * limitTime)
	for limit, want := range map[int]int{
		100: 200, 499: 998, 500: 1000, 501: 1000, 999: 1000, 1000: 1000,
	} {
		d := &Destination{c: Config{MaxRequest: 1000}, limit: limit, limited: long}
		if more, err := d.send(t.Context(), nil); more || err != nil || d.limit != want {
			t.Errorf("%d: got a limit of %d, %v, %v, want %d", limit, d.limit, more, err, want)
		}
	}
}

func TestLimitsOfAConfig(t *testing.T) {
	for _, c := range []struct {
		config Config
		valid  bool
	}{
		{Config{MaxRequest: -1}, false}, {Config{MaxRequest: 1}, true},
		{Config{MaxRequest: maxRequest}, true}, {Config{MaxRequest: maxRequest + 1}, false},
		{Config{Timeout: -1}, false}, {Config{Timeout: 1}, true},
	} {
		if err := c.config.Validate(); (err == nil) != c.valid {
			t.Errorf("%+v: got %v, want valid: %v", c.config, err, c.valid)
		}
	}
}

func TestTimeLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for since, want := range map[time.Duration]int{limitTime: 100, limitTime + 1: 200} {
			d := &Destination{c: Config{MaxRequest: 1000}, limit: 100, limited: now.Add(-since)}
			if _, err := d.send(t.Context(), nil); err != nil || d.limit != want {
				t.Errorf("after %v: got a limit of %d and %v, want %d", since, d.limit, err, want)
			}
		}
		for _, c := range []struct {
			limit, since time.Duration
			want         bool
		}{
			{time.Second, time.Second - 1, false}, {time.Second, time.Second, true},
			{0, 10*time.Second - 1, false}, {0, 10 * time.Second, true},
			{1, 0, false}, {1, 1, true}, {-1, time.Hour, false},
		} {
			d := &Destination{c: Config{DeliverTimeout: c.limit}}
			if got := d.late(now.Add(-c.since)); got != c.want {
				t.Errorf("%v of %v: got late %v, want %v", c.since, c.limit, got, c.want)
			}
		}
	})
}

// A request has at most as many bytes as the limit, with room for the longest
// action of each line; a single line may have more.
func TestRecordsOfMaxRequest(t *testing.T) {
	line := []byte(`{"n":1}` + "\n")
	batch := []nib.Record{{Line: line}, {Line: line}}
	first := len(appendAction(nil, &batch[0])) + len(line)
	both := first + len(bytes.TrimSuffix(line, newline)) + maxAction
	for limit, want := range map[int]int{1: 1, both - 1: 1, both: 2} {
		d := &Destination{limit: limit, states: make([]state, len(batch))}
		if more := d.fill(batch); len(d.sent) != want || more != (want < 2) {
			t.Errorf("%d bytes: got %d records, more %v, want %d", limit, len(d.sent), more, want)
		}
	}
}

func TestActions(t *testing.T) {
	for want, r := range map[string]nib.Record{
		`{"create":{}}`: {Seq: 7},
		`{"create":{"_id":"0000000000000001-7"}}`: {Spool: 1, Seq: 7},
		`{"create":{"_id":"123456789abcdef0-18446744073709551615"}}`: {
			Spool: 0x123456789abcdef0, Seq: 1<<64 - 1,
		},
	} {
		got := appendAction(nil, &r)
		if string(got) != want+"\n" || len(got) > maxAction {
			t.Errorf("got %q of %d bytes, want %q of at most %d", got, len(got), want, maxAction)
		}
	}
}

// A request of one record cannot become shorter.
func TestTimeoutsShortenRequestsOfSeveralRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n, shorter := range map[int]bool{1: false, 2: true} {
			l, stop := serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			}))
			c := Config{Dial: l.dial, MaxRequest: 1 << 20, Timeout: time.Second}
			d, err := New("http://opensearch:9200", "logs", c)
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Deliver(t.Context(), batchOf(n))
			if err == nil || (d.limit < 1<<20) != shorter {
				t.Errorf("%d records: got %v and a limit of %d, want it lower: %v",
					n, err, d.limit, shorter)
			}
			_ = d.Close()
			stop()
		}
	})
}
