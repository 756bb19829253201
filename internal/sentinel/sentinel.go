// SPDX-License-Identifier: Apache-2.0

// Package sentinel has an error of package delivery that packages wrap which
// delivery depends on.
package sentinel

import "errors"

// ErrStalled is delivery.ErrStalled.
var ErrStalled = errors.New("the receiver has stopped reading")
