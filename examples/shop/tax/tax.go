// SPDX-License-Identifier: Apache-2.0

// Package tax represents a library that logs through logr, with the logger of
// the context.
package tax

import (
	"context"

	"github.com/go-logr/logr"
)

// percent has the rates by country.
var percent = map[string]int64{"DE": 19, "FR": 20}

// Gross adds the tax of a country to a price.
func Gross(ctx context.Context, country string, cents int64) int64 {
	log := logr.FromContextOrDiscard(ctx).WithName("tax")
	rate, known := percent[country]
	log.V(4).Info("rate looked up", "country", country, "known", known)
	gross := cents + cents*rate/100
	log.Info("tax added", "percent", rate, "cents", gross)
	return gross
}
