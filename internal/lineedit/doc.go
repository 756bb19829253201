// SPDX-License-Identifier: Apache-2.0

// Package lineedit changes a finished log line before it leaves: it masks
// secrets, settles keys that stand there twice, and cuts what is too long.
package lineedit
