// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/delivery/httpsend"
	"github.com/nib-log/nib/delivery/rawjson"
)

const (
	limitTime = time.Minute // the time after which requests may be twice as long again
	minSlow   = 64 << 10    // the size below which requests do not become shorter because of timeouts
)

var (
	errNotALine  = errors.New("nib/elastic: the line is not one JSON object")
	errResponse  = errors.New("nib/elastic: the response to _bulk cannot be read")
	errAllFailed = errors.New("nib/elastic: every record is refused, and none was ever accepted; they wait")
)

// A finalError is an error after which Deliver returns.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

func isFinal(err error) bool { return errors.As(err, new(finalError)) }

// send sends one request with unsettled records. more reports that there are
// others.
func (d *Destination) send(ctx context.Context, batch []nib.Record) (more bool, err error) {
	if d.limit < d.c.MaxRequest && time.Since(d.limited) > limitTime {
		d.limit, d.limited = min(2*d.limit, d.c.MaxRequest), time.Now()
	}
	more = d.fill(batch)
	if len(d.sent) == 0 {
		return false, nil
	}
	resp, err := d.client.Post(ctx, d.body)
	switch {
	case err != nil:
		if len(d.sent) > 1 && errors.Is(err, os.ErrDeadlineExceeded) {
			d.shorten(max(len(d.body)/2, minSlow))
		}
		return more, finalError{err}
	case len(d.sent) > 1 && (resp.Status == http.StatusRequestEntityTooLarge || resp.OK() && resp.Truncated):
		d.shorten(len(d.body) / 2)
		return true, nil
	case resp.OK():
		waiting, err := d.read(resp)
		if err != nil {
			d.client.Delay(err)
		}
		return more || waiting, err
	case resp.Status == http.StatusRequestEntityTooLarge:
		d.states[d.sent[0]] = state{true, fmt.Errorf("%w: %w", resp.Err(), delivery.ErrTooLarge)}
		return true, nil
	}
	err = resp.Err()
	d.client.Delay(err)
	return more, finalError{err}
}

// shorten makes requests shorter, after the server has rejected one as too long
// or has not responded to it in time.
func (d *Destination) shorten(limit int) { d.limit, d.limited = min(d.limit, limit), time.Now() }

// fill fills the body with unsettled records, and reports whether there are
// more than fit.
func (d *Destination) fill(batch []nib.Record) (more bool) {
	d.body, d.sent = d.body[:0], d.sent[:0]
	for i := range batch {
		if d.states[i].settled {
			continue
		}
		line := bytes.TrimSuffix(batch[i].Line, newline)
		if len(line) == 0 || line[0] != '{' || bytes.IndexByte(line, '\n') >= 0 {
			d.states[i] = state{true, errNotALine}
			continue
		}
		if len(d.sent) > 0 && len(d.body)+len(line)+maxAction > d.limit {
			return true
		}
		d.body = append(append(appendAction(d.body, &batch[i]), line...), '\n')
		d.sent = append(d.sent, i)
	}
	return false
}

var newline = []byte{'\n'}

// maxAction is the maximum length of a line with an action.
const maxAction = 64

// appendAction appends the action for the line after it.
func appendAction(dst []byte, r *nib.Record) []byte {
	if r.Spool == 0 {
		return append(dst, `{"create":{}}`+"\n"...)
	}
	dst = append(dst, `{"create":{"_id":"`...)
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[r.Spool>>shift&15])
	}
	dst = strconv.AppendUint(append(dst, '-'), r.Seq, 10)
	return append(dst, `"}}`+"\n"...)
}

// read reads the response to a request: the status of each record. waiting
// reports that some must be sent again, and err says why. Without an item for
// each record it is not known which records the items are for.
func (d *Destination) read(resp httpsend.Response) (waiting bool, err error) {
	items, ok := (&nib.Record{Line: resp.Body}).Lookup("items")
	if !ok || resp.Truncated {
		return true, fmt.Errorf("%w: %.100q", errResponse, resp.Body)
	}
	n, refused, created, present := 0, 0, uint64(0), uint64(0)
	for item := range rawjson.Elements(items) {
		if n++; n > len(d.sent) {
			continue
		}
		s := &d.states[d.sent[n-1]]
		switch status, fault := readItem(item); {
		case status == http.StatusCreated || status == http.StatusOK:
			s.settled = true
			created++
		case status == http.StatusConflict:
			s.settled = true
			present++
		case (status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge) && !isOfIndex(fault):
			*s = state{true, itemError(status, fault)}
			refused++
		default:
			waiting, err = true, itemError(status, fault)
		}
	}
	if n != len(d.sent) {
		d.unsettle()
		return true, fmt.Errorf("%w: %d items for %d records", errResponse, n, len(d.sent))
	}
	d.created.Add(created)
	d.present.Add(present)
	if refused >= maxUnproven && refused == n && d.created.Load()+d.present.Load() == 0 {
		err = fmt.Errorf("%w: %w", errAllFailed, d.states[d.sent[0]].reason)
		d.unsettle()
		return true, finalError{err}
	}
	return waiting, err
}

// unsettle makes the records of the request wait.
func (d *Destination) unsettle() {
	for _, i := range d.sent {
		d.states[i] = state{}
	}
}

// maxUnproven is the maximum number of records that are rejected together by a
// server that has never accepted one.
const maxUnproven = 16

// readItem returns the status and the error of an item,
// {"create":{"status":400,"error":…}}.
func readItem(item []byte) (status int, fault []byte) {
	for _, result := range rawjson.Fields(item) {
		for key, value := range rawjson.Fields(result) {
			switch string(key) {
			case "status":
				status, _ = strconv.Atoi(string(value))
			case "error":
				fault = value
			}
		}
	}
	return status, fault
}

// isOfIndex reports whether an error with status 400 concerns the index or the
// pipeline, and not a record: it lasts until they are configured.
func isOfIndex(fault []byte) bool {
	switch kind, reason := readFault(fault); kind {
	case "index_closed_exception", "invalid_index_name_exception", "validation_exception": // the last one: too many shards
		return true
	case "illegal_argument_exception":
		return strings.HasPrefix(reason, "Validation Failed: ") || strings.HasPrefix(reason, "no write index is defined for alias [") ||
			strings.HasPrefix(reason, "pipeline with id [")
	}
	return false
}

// itemError converts the error of an item to an error.
func itemError(status int, fault []byte) error {
	kind, reason := readFault(fault)
	return fmt.Errorf("nib/elastic: %d %s: %s", status, httpsend.Excerpt(kind, maxKind), httpsend.Excerpt(reason, maxReason))
}

// readFault reads the error of an item, {"type":"…","reason":"…"}.
func readFault(fault []byte) (kind, reason string) {
	for key, value := range rawjson.Fields(fault) {
		if len(value) < 2 || value[0] != '"' {
			continue
		}
		switch text := rawjson.AppendText(nil, value[1:len(value)-1]); string(key) {
		case "type":
			kind = string(text)
		case "reason":
			reason = string(text)
		}
	}
	return kind, reason
}

// The maximum lengths of the parts of an item that an error quotes. In these,
// the server quotes values of the line.
const (
	maxKind   = 100
	maxReason = 900
)
