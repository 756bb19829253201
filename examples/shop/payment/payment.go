// SPDX-License-Identifier: Apache-2.0

// Package payment represents a library that logs through zap, with the logger
// that it is given.
package payment

import (
	"errors"

	"go.uber.org/zap"
)

// A Client authorizes payments.
type Client struct{ log *zap.Logger }

// New returns a Client.
func New(log *zap.Logger) *Client { return &Client{log.Named("payment")} }

// ErrDeclined indicates a payment that is not possible.
var ErrDeclined = errors.New("payment declined")

// limit is the maximum amount of a payment, in cents.
const limit = 1_000_000

// Authorize authorizes a payment.
func (c *Client) Authorize(cents int64) error {
	c.log.Debug("checking limit", zap.Int64("limit", limit))
	if cents > limit {
		return ErrDeclined
	}
	c.log.Info("payment authorized", zap.Int64("cents", cents))
	return nil
}
