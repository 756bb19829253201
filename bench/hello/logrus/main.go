// SPDX-License-Identifier: Apache-2.0

// Command logrus writes one line through logrus, for the size of its binary and
// the time of its package initialisation.
package main

import (
	"os"

	"github.com/sirupsen/logrus"
)

func main() {
	l := logrus.New()
	l.SetOutput(os.Stdout)
	l.SetFormatter(&logrus.JSONFormatter{})
	l.WithField("to", "world").Info("hello")
}
