// SPDX-License-Identifier: Apache-2.0

package contract

// LoggerKey is the key under which a context carries its *nib.Logger. A context
// type of this repository may recognize it and make the logger on demand.
type LoggerKey struct{}
