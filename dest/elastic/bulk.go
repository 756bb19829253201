// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/httpsend"
	"github.com/nib-log/nib/internal/jsonread"
)

var (
	errNotALine = errors.New("nib/elastic: the line is not one JSON object")
	errResponse = errors.New("nib/elastic: the response to _bulk cannot be read")
)

// bulk is the format of requests to _bulk.
type bulk struct {
	body             []byte
	created, present atomic.Uint64
	attempts
}

var newline = []byte{'\n'}

// Check implements [httpsend.Protocol].
func (*bulk) Check(r *nib.Record) error {
	line := bytes.TrimSuffix(r.Line, newline)
	if len(line) == 0 || line[0] != '{' || bytes.IndexByte(line, '\n') >= 0 {
		return errNotALine
	}
	return nil
}

// Body implements [httpsend.Protocol].
func (b *bulk) Body(batch []nib.Record, want []int, limit int) (body []byte, n int) {
	b.body = b.body[:0]
	b.begin(batch)
	for _, i := range want {
		line := bytes.TrimSuffix(batch[i].Line, newline)
		if n > 0 && len(b.body)+len(line)+maxAction > limit {
			break
		}
		b.body = append(append(appendAction(b.body, &batch[i]), line...), '\n')
		b.add(&batch[i])
		n++
	}
	return b.body, n
}

// maxAction is the maximum length of a line with an action.
const maxAction = 64

// appendAction appends the action for the line after it.
func appendAction(dst []byte, r *nib.Record) []byte {
	if r.Spool == 0 {
		return append(dst, `{"create":{}}`+"\n"...)
	}
	var spool [8]byte
	binary.BigEndian.PutUint64(spool[:], r.Spool)
	dst = hex.AppendEncode(append(dst, `{"create":{"_id":"`...), spool[:])
	dst = strconv.AppendUint(append(dst, '-'), r.Seq, 10)
	return append(dst, `"}}`+"\n"...)
}

// Read implements [httpsend.Protocol]. Without an item for each record it is
// not known which records the items are for.
func (b *bulk) Read(resp httpsend.Response, statuses []httpsend.RecordStatus) error {
	if resp.Truncated {
		return fmt.Errorf("%w: %w", errResponse, delivery.ErrTooLarge)
	}
	items, ok := jsonread.Lookup(resp.Body, "items")
	if !ok {
		return fmt.Errorf("%w: %w", errResponse, resp.Err())
	}
	n, created, present := 0, uint64(0), uint64(0)
	for item := range jsonread.Elements(items) {
		if n++; n > len(statuses) {
			continue
		}
		switch status, fault := readItem(item); {
		case status == http.StatusCreated || status == http.StatusOK:
			created++
		case status == http.StatusConflict && b.known[n-1]:
			present++
		case status == http.StatusConflict:
			statuses[n-1] = httpsend.RecordStatus{Err: errTaken}
		default:
			statuses[n-1] = httpsend.RecordStatus{Err: itemError(status, fault),
				Status: statusOf(status, fault)}
		}
	}
	if n != len(statuses) {
		return fmt.Errorf("%w: %d items for %d records", errResponse, n, len(statuses))
	}
	b.end(statuses)
	b.created.Add(created)
	b.present.Add(present)
	return nil
}

// Error implements [httpsend.Protocol].
func (*bulk) Error(resp httpsend.Response) error { return resp.Err() }

// readItem returns the status and the error of an item,
// {"create":{"status":400,"error":…}}.
func readItem(item []byte) (status int, fault []byte) {
	for _, result := range jsonread.Fields(item) {
		for key, value := range jsonread.Fields(result) {
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

// isEmptyRequest reports whether the server has refused a request because it
// has no actions, which it checks after the user.
func isEmptyRequest(resp httpsend.Response) bool {
	fault, _ := jsonread.Lookup(resp.Body, "error")
	_, reason := readFault(fault)
	return resp.Status == http.StatusBadRequest &&
		(strings.Contains(reason, "body is required") ||
			strings.Contains(reason, "no requests added"))
}

// statusOf returns the status of an item. An error with status 400 that
// concerns the index or the pipeline, and not the record, lasts until they are
// configured, as 404 does.
func statusOf(status int, fault []byte) int {
	ofIndex := false
	switch kind, reason := readFault(fault); kind {
	// The last one: too many shards.
	case "index_closed_exception", "invalid_index_name_exception", "validation_exception":
		ofIndex = true
	case "illegal_argument_exception":
		ofIndex = strings.HasPrefix(reason, "Validation Failed: ") ||
			strings.HasPrefix(reason, "no write index is defined for alias [") ||
			strings.HasPrefix(reason, "pipeline with id [")
	}
	if status == 0 || ofIndex {
		return http.StatusNotFound
	}
	return status
}

// itemError converts the error of an item to an error.
func itemError(status int, fault []byte) error {
	kind, reason := readFault(fault)
	if kind+reason == "" { // the fault has another form
		kind, reason = http.StatusText(status), string(fault)
	}
	return fmt.Errorf("nib/elastic: %d %s: %s", status, httpsend.Excerpt(kind, maxKind),
		httpsend.Excerpt(reason, maxReason))
}

// readFault reads the error of an item, {"type":"…","reason":"…"}.
func readFault(fault []byte) (kind, reason string) {
	return textOf(fault, "type"), textOf(fault, "reason")
}

// textOf returns the text of a field of an object, "" if it has none.
func textOf(object []byte, key string) string {
	value, _ := jsonread.Lookup(object, key)
	text, _ := jsonread.AppendUnquoted(nil, value)
	return string(text)
}

// The maximum lengths of the parts of an item that an error quotes. In these,
// the server quotes values of the line.
const (
	maxKind   = 100
	maxReason = 900
)
