// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"fmt"
	"strings"

	"github.com/nib-log/nib/delivery/httpsend"
)

// The fields of ExportLogsServiceResponse and of google.rpc.Status.
const (
	responsePartial = 1
	partialRejected = 1
	partialMessage  = 2
	statusMessage   = 2
)

// accepted counts n records that the server has accepted. Those that it rejects
// in a partial success must not be sent again; if it rejects all of them,
// accepted returns the reason.
func (d *Destination) accepted(resp httpsend.Response, n int) (reason error) {
	rejected, message := partialSuccess(resp)
	if rejected > uint64(n) {
		rejected = uint64(n)
	}
	if n > 0 && rejected == uint64(n) {
		return resp.Error("partial success, all records of the request were rejected: " + message)
	}
	d.records.Add(uint64(n))
	d.partial.Add(rejected)
	if (rejected > 0 || message != "") && d.c.OnError != nil {
		d.c.OnError(resp.Error(fmt.Sprintf("partial success: the server rejected %d of %d records, and does not say which: %s", rejected, n, message)))
	}
	return nil
}

// partialSuccess returns the number of records that a response reports as
// rejected, and the reason.
func partialSuccess(resp httpsend.Response) (rejected uint64, message string) {
	if !isProtobuf(resp) {
		return 0, ""
	}
	r := reader{resp.Body}
	for {
		number, _, text, ok := r.next()
		if !ok {
			return rejected, message
		}
		if number != responsePartial {
			continue
		}
		in := reader{text}
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

func isProtobuf(resp httpsend.Response) bool {
	return strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), contentType)
}

// responseError returns an error for a response, with the message of the Status
// in its body.
func responseError(resp httpsend.Response) error {
	if !isProtobuf(resp) {
		return resp.Err()
	}
	r := reader{resp.Body}
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
