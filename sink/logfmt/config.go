// SPDX-License-Identifier: Apache-2.0

package logfmt

// A Config configures a Sink. The zero value is ready to use.
type Config struct {
	// KeepObjects writes an object as a single field:
	// user="{\"id\":7,\"name\":\"Ann\"}". By default each of its values is a
	// separate field: user.id=7 user.name=Ann. Loki finds such fields without a
	// second parser; it turns the dot into _.
	KeepObjects bool
}
