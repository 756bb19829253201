// SPDX-License-Identifier: Apache-2.0

// Package httpsend is the HTTP client of destinations that deliver a batch as
// one POST request. It repeats requests that may succeed later, honours
// Retry-After, and bounds every wait and every response:
//
//	type webhook struct{ client *httpsend.Client }
//
//	func (w webhook) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
//		var body []byte
//		for _, r := range batch {
//			body = append(body, r.Line...)
//		}
//		resp, err := w.client.Post(ctx, body)
//		switch {
//		case err != nil:
//			return delivery.Result{}, err
//		case !resp.OK():
//			return delivery.Result{}, resp.Err()
//		}
//		return delivery.Result{Accepted: len(batch)}, nil
//	}
//
// Requests that fail before a response is complete, and those answered with
// 429, 502, 503 or 504, are sent again: these are the rules of OTLP/HTTP
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp-throttling). Everything
// else is returned. A [Sender] also finds a record that makes a server refuse
// requests.
//
// A request whose response is lost may have been executed, so a destination
// needs a way to recognize records that arrive twice. [nib.Record.Spool] and
// Seq identify a record.
package httpsend
