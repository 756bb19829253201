// SPDX-License-Identifier: Apache-2.0

// Package writers tests other loggers that write through sink.NewWriter: it
// stops the reader of their output, ends it, and fills their disk.
package writers
