// SPDX-License-Identifier: Apache-2.0

// Command allocsvet runs the checks of package analysis:
//
//	go vet -vettool=$(which allocsvet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/nib-log/nib/allocs/analysis"
)

func main() { unitchecker.Main(analysis.Analyzers...) }
