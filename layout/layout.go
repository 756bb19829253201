// SPDX-License-Identifier: Apache-2.0

// Package layout has layouts under which nib's lines look like those of other
// loggers, for readers that expect them. Each function returns a [nib.Layout]
// for [nib.WithLayout], which may be changed before use.
package layout
