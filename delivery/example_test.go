// SPDX-License-Identifier: Apache-2.0

package delivery_test

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// A printer is a destination that writes lines to w. After an error the spool
// delivers the rest of the batch again.
type printer struct{ w io.Writer }

func (p printer) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	for i, r := range batch {
		if _, err := p.w.Write(r.Line); err != nil {
			return delivery.Result{Accepted: i}, err
		}
	}
	return delivery.Result{Accepted: len(batch)}, nil
}

func Example() {
	var d delivery.Destination = printer{os.Stdout}
	res, err := d.Deliver(context.Background(), []nib.Record{
		{Line: []byte(`{"message":"a"}` + "\n")},
		{Line: []byte(`{"message":"b"}` + "\n")},
	})
	fmt.Println(res.Accepted, err)
	// Output:
	// {"message":"a"}
	// {"message":"b"}
	// 2 <nil>
}
