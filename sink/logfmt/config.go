// SPDX-License-Identifier: Apache-2.0

package logfmt

import "fmt"

// Objects selects how nested objects are written.
type Objects uint8

// The values of Config.Objects.
const (
	// ObjectsFlatten writes each value as a separate field: user.id=7
	// user.name=Ann. Loki finds such fields without a second parser; it turns
	// the dot into _.
	ObjectsFlatten Objects = iota
	// ObjectsJSON writes an object as a single field:
	// user="{\"id\":7,\"name\":\"Ann\"}".
	ObjectsJSON
)

// A Config configures a Sink. The zero value is ready to use.
type Config struct {
	// Objects defaults to ObjectsFlatten.
	Objects Objects
}

// Validate returns an error if c is invalid.
func (c Config) Validate() error {
	if c.Objects > ObjectsJSON {
		return fmt.Errorf("nib/logfmt: Objects %d is neither Flatten nor JSON", c.Objects)
	}
	return nil
}
