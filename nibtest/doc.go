// SPDX-License-Identifier: Apache-2.0

// Package nibtest helps to test code that logs with nib, and code that nib
// logs to.
//
//   - [Recorder] is a sink that keeps every line, with lookups that make a
//     test short.
//   - [Clock] is a clock that moves only when it is told to.
//   - [TestSink] and [TestDestination] check an implementation of nib.Sink or
//     delivery.Destination against what nib relies on.
package nibtest
