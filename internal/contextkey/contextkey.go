// SPDX-License-Identifier: Apache-2.0

// Package contextkey has the key under which a context carries its logger. A
// context type of this repository may answer to it and make the logger when it
// is needed.
package contextkey

// Logger is the key of a *nib.Logger.
type Logger struct{}
