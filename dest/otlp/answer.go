// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nib-log/nib/internal/httpsend"
	"github.com/nib-log/nib/internal/jsonread"
)

// The fields of ExportLogsServiceResponse and of google.rpc.Status.
const (
	responsePartial = 1
	partialRejected = 1
	partialMessage  = 2
	statusMessage   = 2
)

// errNotOTLP means that a response with status 2xx is not one of an OTLP
// receiver, so that the records may not have arrived.
var errNotOTLP = errors.New("the response is not one of an OTLP receiver")

// accepted counts n records that the server has accepted. Those that it rejects
// in a partial success must not be sent again; if it rejects all of them,
// accepted returns the reason.
func (d *Destination) accepted(resp httpsend.Response, n int) (reason, err error) {
	rejected, message, ok := partialSuccess(resp)
	if !ok {
		return nil, fmt.Errorf("%w: %w", errNotOTLP, resp.Err())
	}
	if rejected = min(rejected, uint64(n)); n > 0 && rejected == uint64(n) {
		return resp.Error("partial success, all records of the request were rejected: " + message),
			nil
	}
	d.records.Add(uint64(n))
	d.partial.Add(rejected)
	if (rejected > 0 || message != "") && d.c.OnError != nil {
		d.c.OnError(
			resp.Error(fmt.Sprintf(
				"partial success: the server rejected %d of %d records, and does not say which: %s",
				rejected, n, message)))
	}
	return nil, nil
}

// partialSuccess returns the number of records that a response reports as
// rejected, and the reason. ok is false if the body is neither protobuf nor
// JSON of a receiver, whatever its Content-Type is; an empty one, and the word
// ok, are a success.
func partialSuccess(resp httpsend.Response) (rejected uint64, message string, ok bool) {
	text := bytes.TrimSpace(resp.Body)
	// As protobuf, 2 bytes and a message of 123 begin with a line feed and {.
	alike := bytes.HasPrefix(resp.Body, []byte("\n{")) && len(resp.Body) == 2+'{'
	switch {
	case len(text) == 0 || bytes.EqualFold(text, []byte("ok")):
		return 0, "", true
	case text[0] == '{' && !(alike && isProtobuf(resp)):
		return partialJSON(text)
	}
	kind := strings.ToLower(resp.Header.Get("Content-Type"))
	return partialProtobuf(resp.Body, resp.Truncated, strings.HasPrefix(kind, "text/"))
}

// partialProtobuf reads an ExportLogsServiceResponse. Text may look like one,
// so it must begin with its only field.
func partialProtobuf(body []byte, cut, text bool) (rejected uint64, message string, ok bool) {
	if text && body[0] != tag(responsePartial, bytesType) {
		return 0, "", false
	}
	r := reader{body, cut}
	for {
		number, _, text, ok := r.next()
		if !ok {
			return rejected, message, len(r.b) == 0 || cut
		}
		if number != responsePartial {
			continue
		}
		in := reader{text, cut}
		for {
			number, value, text, ok := in.next()
			if !ok {
				break
			}
			switch number {
			case partialRejected:
				rejected = uint64(max(int64(value), 0))
			case partialMessage:
				message = strings.ToValidUTF8(string(text), "")
			}
		}
	}
}

// partialJSON reads an ExportLogsServiceResponse in JSON, in which an int64 is
// a string or a number. An object with an error is not one.
func partialJSON(text []byte) (rejected uint64, message string, ok bool) {
	ok = text[len(text)-1] == '}'
	for key, value := range jsonread.Fields(text) {
		switch string(key) {
		case "error", "errors":
			ok = ok && isEmpty(value)
		case "partialSuccess":
			for key, value := range jsonread.Fields(value) {
				plain := value
				if text, ok := jsonread.AppendUnquoted(nil, value); ok {
					plain = text
				}
				switch string(key) {
				case "rejectedLogRecords":
					n, err := strconv.ParseInt(string(plain), 10, 64)
					rejected, ok = uint64(max(n, 0)), ok && (err == nil || isEmpty(value))
				case "errorMessage":
					message = string(plain)
				}
			}
		}
	}
	return rejected, message, ok
}

// isEmpty reports whether a JSON value has no contents.
func isEmpty(value []byte) bool {
	switch string(value) {
	case "null", "false", "0", `""`, "[]", "{}":
		return true
	}
	return false
}

func isProtobuf(resp httpsend.Response) bool {
	return strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), contentType)
}

// responseError returns an error for a response, with the message of the Status
// in its body.
func responseError(resp httpsend.Response) error {
	if !isProtobuf(resp) {
		return resp.Err()
	}
	r := reader{resp.Body, true}
	for {
		number, _, text, ok := r.next()
		if !ok {
			return resp.Error("")
		}
		if number == statusMessage && text != nil {
			return resp.Error(strings.ToValidUTF8(string(text), ""))
		}
	}
}
