// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/schema"
)

type payment struct {
	ID      int64         `json:"id"`
	At      time.Time     `json:"at"`
	Method  string        `json:"method"`
	Card    string        `json:"card" log:"mask"`
	Amount  float64       `json:"amount"`
	Retries uint8         `json:"retries"`
	Took    time.Duration `json:"took_ms" log:"unit=ms"`
	Tags    []string      `json:"tags"`
	Coupon  *coupon       `json:"coupon,omitempty"`
}

type coupon struct {
	Code string `json:"code"`
	Off  int    `json:"off,string"`
}

// The schema of the lines of a topic, for its consumers.
func ExampleCodec_JSONSchema() {
	codec := schema.MustFor[payment]()
	fmt.Printf("%s", codec.JSONSchema())
	// Output:
	// {
	//   "$schema": "https://json-schema.org/draft/2020-12/schema",
	//   "title": "payment",
	//   "type": "object",
	//   "properties": {
	//     "id": {"type": "integer", "minimum": -9223372036854775808, "maximum": 9223372036854775807},
	//     "at": {"type": "string", "format": "date-time"},
	//     "method": {"type": "string"},
	//     "card": {"const": "***"},
	//     "amount": {"anyOf": [{"type": "number"}, {"enum": ["NaN", "+Inf", "-Inf"]}]},
	//     "retries": {"type": "integer", "minimum": 0, "maximum": 255},
	//     "took_ms": {"type": "number", "description": "duration in milliseconds"},
	//     "tags": {"type": ["array", "null"], "items": {"type": "string"}},
	//     "coupon": {
	//       "type": ["object", "null"],
	//       "properties": {
	//         "code": {"type": "string"},
	//         "off": {"type": "string", "pattern": "^(0|-?[1-9][0-9]*)$"}
	//       },
	//       "required": ["code", "off"]
	//     }
	//   },
	//   "required": ["id", "at", "method", "card", "amount", "retries", "took_ms", "tags"]
	// }
}

type comment struct {
	Text    string    `json:"text"`
	Replies []comment `json:"replies"`
}

// A recursive type.
func ExampleCodec_JSONSchema_recursive() {
	fmt.Printf("%s", schema.MustFor[comment]().JSONSchema())
	// Output:
	// {
	//   "$schema": "https://json-schema.org/draft/2020-12/schema",
	//   "title": "comment",
	//   "$ref": "#/$defs/comment",
	//   "$defs": {
	//     "comment": {
	//       "type": "object",
	//       "properties": {
	//         "text": {"type": "string"},
	//         "replies": {"type": ["array", "null"], "items": {"$ref": "#/$defs/comment"}}
	//       },
	//       "required": ["text", "replies"]
	//     }
	//   }
	// }
}

func TestJSONSchemaIsTheCallersOwn(t *testing.T) {
	codec := schema.MustFor[payment]()
	want := string(codec.JSONSchema())
	clear(codec.JSONSchema())
	if got := codec.JSONSchema(); string(got) != want || !json.Valid(got) || !bytes.HasSuffix(got, []byte("}\n")) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestJSONSchemaOfSeveralGoroutines(t *testing.T) {
	type node struct {
		By map[string]*struct{ N []comment }
	}
	await.Goroutines(8, func(int) {
		if got := schema.MustFor[node]().JSONSchema(); !json.Valid(got) {
			t.Errorf("got %s", got)
		}
	})
}
