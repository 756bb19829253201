// SPDX-License-Identifier: Apache-2.0

package contract

// LayoutOf returns the nib.Layout of a *nib.Logger, with its defaults filled
// in. Package nib sets it.
var LayoutOf func(logger any) (layout any)
