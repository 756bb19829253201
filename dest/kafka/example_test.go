// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"context"
	"log"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/kafka"
)

func Example() {
	out, err := kafka.New([]string{"broker1:9092", "broker2:9092"}, "logs", kafka.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	if err := out.Ping(context.Background()); err != nil {
		log.Print(err) // lines wait in the spool
	}
	var _ delivery.Destination = out // of spool.Open("/var/spool/app", out, spool.Config{})
}
