// SPDX-License-Identifier: Apache-2.0

// The program old is a service that logs with logrus, as it always has. Only
// main has changed, to send its lines over another path.
package main

import (
	"fmt"
	"os"

	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/nib-log/nib/e2e/kafka/pipeline/contract"
	"github.com/sirupsen/logrus"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, relp string) error {
	log, stop, err := contract.Logger("billing", dir, relp)
	if err != nil {
		return err
	}
	niblogrus.Install(logrus.StandardLogger(), log)
	work()
	return stop()
}

// work is the old code.
func work() {
	logrus.Info("billing is up")
	for i := range 100 {
		entry := logrus.WithField("task_id", fmt.Sprint("invoice-", i))
		entry.WithField("rows", i+1).Info("task done")
		if i%10 == 0 {
			entry.Warnf("task took %d attempts\nand \"quotes\"", i)
		}
	}
	logrus.Error("billing is \u2028 done")
}
