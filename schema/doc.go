// SPDX-License-Identifier: Apache-2.0

// Package schema writes structs as JSON by a plan that is made once for each
// type.
//
//	type Order struct {
//		ID    int           `json:"id"`
//		Items []string      `json:"items,omitempty"`
//		Took  time.Duration `json:"took" log:"unit=ms"`
//	}
//
//	var codec = schema.MustFor[Order]()
//
//	func appendOrder(buf []byte, o *Order) ([]byte, error) {
//		return codec.AppendJSON(buf, o)
//	}
//
// # Encoding of values
//
// The bytes are the output of encoding/json in Go 1.26 without HTML escaping:
// the same tags, the same rules for embedded fields, the same methods at the
// same places, the same order of keys. The only differences are:
//
//   - More characters are escaped, so that text cannot steer a terminal: DEL,
//     the C1 controls, bidirectional controls and the byte order mark. Bytes
//     that are not UTF-8 become the character U+FFFD, not its escape sequence.
//     This holds for results of MarshalJSON, too.
//   - NaN and the infinities are the strings "NaN", "+Inf" and "-Inf".
//   - Objects and arrays nest at most 32 deep, which a value that contains
//     itself exceeds. A pointer to a pointer or to an interface counts as one.
//   - Errors name the path to the field.
//
// # The tag log
//
// Options of the tag log, separated by commas, set how a field is logged:
//
//	Key    string        `log:"-"`       // is left out
//	Card   string        `log:"mask"`    // is written as "***"
//	Took   time.Duration `log:"unit=ms"` // is a number of milliseconds; also s, us, ns
//
// On an embedded struct, - and mask hold for all its fields. A field that is
// left out still hides fields of the same name that are embedded deeper. Any
// other option is an error of [For].
//
// Without a unit, a Duration is in nanoseconds and a [time.Time] is RFC 3339,
// as in encoding/json. In a line of nib both follow the Layout of the logger.
//
// Values of a type with a method IsSecret() are written as "***" everywhere.
package schema
