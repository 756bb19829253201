// SPDX-License-Identifier: Apache-2.0

// Package httpsend is the HTTP client of destinations that deliver a batch as
// one POST request. It makes one attempt, honours Retry-After, and bounds every
// wait and every response:
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
// The caller, a spool, sends the records again that a [Sender] has not settled.
// The Sender also finds a record that makes a server refuse requests.
//
// A request whose response is lost may have been executed, so a destination
// needs a way to recognize records that arrive twice. [nib.Record.Spool] and
// Seq identify a record.
package httpsend
