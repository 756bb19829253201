// SPDX-License-Identifier: Apache-2.0

package logfmt

import "fmt"

// Objects says how objects within a line are written.
type Objects uint8

// The choices of Config.Objects.
const (
	// Flatten gives each value a field of its own: user.id=7 user.name=Ann. Loki
	// finds such fields without a second parser; it turns the dot into _.
	ObjectsFlatten Objects = iota
	// JSON keeps an object in one field: user="{\"id\":7,\"name\":\"Ann\"}".
	ObjectsJSON
)

// Config says how lines are written. The zero value is the default.
type Config struct {
	// Objects is Flatten by default.
	Objects Objects
}

// Validate reports what is wrong with c, or nil.
func (c Config) Validate() error {
	if c.Objects > ObjectsJSON {
		return fmt.Errorf("nib/logfmt: Objects %d is neither Flatten nor JSON", c.Objects)
	}
	return nil
}
