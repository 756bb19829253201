// SPDX-License-Identifier: Apache-2.0

// Package secret holds what a value that must not be seen shows instead.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Text stands in place of what must not be seen.
const Text = "***"

// A Mask gives the type that embeds it methods which show [Text], whoever asks:
// package fmt under every verb, encoding/json and other encoders, log/slog, and
// nib itself.
type Mask struct{}

// Format implements fmt.Formatter.
func (Mask) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, Text) }

// String implements fmt.Stringer.
func (Mask) String() string { return Text }

// GoString implements fmt.GoStringer.
func (Mask) GoString() string { return Text }

// MarshalText implements encoding.TextMarshaler.
func (Mask) MarshalText() ([]byte, error) { return []byte(Text), nil }

// MarshalJSON implements json.Marshaler.
func (Mask) MarshalJSON() ([]byte, error) { return []byte(`"` + Text + `"`), nil }

// MarshalBinary implements encoding.BinaryMarshaler, which package gob uses.
func (Mask) MarshalBinary() ([]byte, error) { return []byte(Text), nil }

// LogValue implements slog.LogValuer.
func (Mask) LogValue() slog.Value { return slog.StringValue(Text) }

// IsSecret tells package schema to write Text without a call.
func (Mask) IsSecret() {}
