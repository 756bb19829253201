// SPDX-License-Identifier: Apache-2.0

package schema

import "github.com/nib-log/nib/internal/jsonschema"

// JSONSchema returns a JSON Schema of draft 2020-12, indented and with a
// newline at its end, that holds for whatever [Codec.AppendJSON] writes for a
// T: a contract for the consumers of a topic or an index. The same T gives the
// same text on every platform.
//
// A struct is an object with its properties in the order of its fields.
// Required are those that every value has: not those that omitempty or omitzero
// may leave out, nor the fields of an embedded pointer. Other properties are
// allowed, since additionalProperties is not set: a column that is added later
// must not make old consumers reject new lines, and a line is more than one
// struct, so that schemas are put together by allOf. To reject unknown
// properties, set unevaluatedProperties beside a $ref.
//
// The schemas of types:
//   - int8 to int64 and uint8 to uint64: integer, with the bounds of the type;
//     int has none and uint a lower one, because their size differs between
//     machines
//   - float32, float64: number, or one of the strings "NaN", "+Inf", "-Inf"
//   - [time.Time]: string with format date-time
//   - [time.Duration]: integer, or number with a unit such as log:"unit=s"; the
//     description has the unit
//   - []byte: string with contentEncoding base64; [encoding/json.Number]:
//     number
//   - scalars with the tag option string: string with a pattern
//   - values that log:"mask" or a method IsSecret hides: const "***"
//   - slices: array; arrays: the same of fixed length; maps:
//     additionalProperties
//   - pointers, slices and maps: null as well
//   - types with MarshalText: string; with MarshalJSON, interfaces, and
//     [encoding/json.RawMessage]: true, which is anything
//   - types that no JSON value has, such as a channel: false
//
// Recursive named types, and named structs that occur more than once, are
// defined under $defs. Their names there have letters, digits and underscores
// only: Page[shop.Item] becomes Page_Item and has Page[Item] as its title.
//
// Each call makes a new text. Any number of goroutines may call JSONSchema.
func (c *Codec[T]) JSONSchema() []byte { return jsonschema.Of(c.plan) }
