// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"fmt"
	"time"

	"github.com/nib-log/nib/schema"
)

type Payment struct {
	Order  int           `json:"order"`
	Amount float64       `json:"amount"`
	Card   string        `json:"card" log:"mask"`
	PIN    string        `log:"-"`
	Took   time.Duration `json:"took_ms" log:"unit=ms"`
	Notes  []string      `json:"notes,omitempty"`
	At     time.Time     `json:"at,omitzero"`
}

func ExampleCodec_AppendJSON() {
	codec := schema.MustFor[Payment]()
	buf := make([]byte, 0, 512) // is used again for each payment

	p := &Payment{Order: 4711, Amount: 12.5, Card: "4242 4242", PIN: "0000", Took: 1500 * time.Microsecond}
	buf, err := codec.AppendJSON(buf[:0], p)
	fmt.Println(string(buf), err)
	// Output: {"order":4711,"amount":12.5,"card":"***","took_ms":1.5} <nil>
}

func ExampleFor() {
	_, err := schema.For[struct {
		Card string `log:"masked"`
	}]()
	fmt.Println(err)

	type Job struct{ Done struct{ Signal chan bool } }
	_, err = schema.For[Job]()
	fmt.Println(err)
	// Output:
	// nib/schema: struct { Card string "log:\"masked\"" }.Card: the tag log:"masked" has an unknown option "masked"; there are -, mask, unit=s, unit=ms, unit=us, unit=ns
	// nib/schema: Job.Done.Signal: json: unsupported type: chan bool
}

func ExampleAppendMap() {
	buf, _ := schema.AppendMap(nil, map[string]any{
		"user": "ada", "attempt": 2, "payment": Payment{Order: 1, Notes: []string{"first"}},
	})
	fmt.Println(string(buf))
	// Output: {"attempt":2,"payment":{"order":1,"amount":0,"card":"***","took_ms":0,"notes":["first"]},"user":"ada"}
}

func ExampleError() {
	loop := map[string]any{}
	loop["self"] = loop
	_, err := schema.AppendAny(nil, []any{1, map[string]any{"f": func() {}}})
	fmt.Println(err)
	_, err = schema.AppendMap(nil, loop)
	fmt.Println(err.(*schema.Error).Err)
	// Output:
	// nib/schema: []interface {}[1]["f"]: json: unsupported type: func()
	// nested too deep
}
