// SPDX-License-Identifier: Apache-2.0

package usercode

import (
	"errors"
	"fmt"
	"io"
)

// SampleErrors returns errors which have every method that functions which
// write errors check for.
func SampleErrors() []error {
	return []error{errors.New("sample"), sample{}, group{}, fmt.Errorf("%w", sample{})}
}

type sample struct{}

func (sample) Error() string              { return "sample" }
func (sample) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "sample with more") }

type group struct{ sample }

func (group) Errors() []error { return []error{sample{}} }
func (group) Unwrap() []error { return []error{sample{}} }
