// SPDX-License-Identifier: Apache-2.0

// The program new is a service that logs with nib.
package main

import (
	"fmt"
	"os"

	"github.com/nib-log/nib/e2e/kafka/pipeline/contract"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, relp string) error {
	log, stop, err := contract.Logger("orders", dir, relp)
	if err != nil {
		return err
	}
	log.Info().Msg("orders is up")
	for i := range 100 {
		log.Info().Str("task_id", fmt.Sprint("order-", i)).Int("rows", i+1).Msg("order accepted")
	}
	log.Error().Msg("orders is <done> & 世界")
	return stop()
}
