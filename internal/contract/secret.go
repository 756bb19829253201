// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"io"
	"log/slog"
)

// SecretText is written in place of a secret.
const SecretText = "***"

// A SecretMask gives the type that embeds it methods that return [SecretText]
// to package fmt under every verb, to encoding/json and other encoders, to
// log/slog and to nib itself.
type SecretMask struct{}

// Format implements fmt.Formatter.
func (SecretMask) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, SecretText) }

// String implements fmt.Stringer.
func (SecretMask) String() string { return SecretText }

// GoString implements fmt.GoStringer.
func (SecretMask) GoString() string { return SecretText }

// MarshalText implements encoding.TextMarshaler.
func (SecretMask) MarshalText() ([]byte, error) { return []byte(SecretText), nil }

// MarshalJSON implements json.Marshaler.
func (SecretMask) MarshalJSON() ([]byte, error) { return []byte(`"` + SecretText + `"`), nil }

// MarshalBinary implements encoding.BinaryMarshaler, which package gob uses.
func (SecretMask) MarshalBinary() ([]byte, error) { return []byte(SecretText), nil }

// LogValue implements slog.LogValuer.
func (SecretMask) LogValue() slog.Value { return slog.StringValue(SecretText) }

// IsSecret makes package schema write SecretText without calling a method.
func (SecretMask) IsSecret() {}
