// SPDX-License-Identifier: Apache-2.0

// Package nibtest has helpers to test code that logs with nib, and
// implementations of its sinks and destinations.
//
//	func TestCheckout(t *testing.T) {
//		var rec nibtest.Recorder
//		log := nib.NewSink(&rec)
//		checkout(log, order)
//		if line := rec.Find("order placed"); line["items"] != 3.0 {
//			t.Errorf("got %v", line)
//		}
//		if n := rec.Len(); n != 1 {
//			t.Errorf("got %d lines, want 1", n)
//		}
//	}
//
// It has:
//
//   - [Logger] is a logger whose lines are in the output of their test, with
//     assertions on the lines.
//   - [Recorder] is a sink, and a destination of a spool, that keeps every
//     line, with lookups that make a test short. It can be made to fail.
//   - [Clock] is a clock that moves only when a test moves it.
//   - [TestSink] and [TestDestination] check an implementation of nib.Sink or
//     delivery.Destination against the rules that nib relies on.
package nibtest
