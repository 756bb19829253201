// SPDX-License-Identifier: Apache-2.0

package sink

import "github.com/nib-log/nib"

// Discard is a sink that takes every record and does nothing with it, not even
// count it. It costs one call.
func Discard() nib.Sink { return discard{} }

type discard struct{}

var _ nib.Sink = discard{}

func (discard) WriteRecord(*nib.Record) error { return nil }

// NeverLogs is true: discard calls nobody.
func (discard) NeverLogs() bool { return true }
