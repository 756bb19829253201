// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"errors"
	"strings"
	"testing"
	"time"

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
