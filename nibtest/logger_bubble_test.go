// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package nibtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/nibtest"
)

func TestLoggerInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := nibtest.Logger(t)
		go func() {
			time.Sleep(time.Hour)
			log.Info().Msg("later")
		}()
		await.Sleep(time.Hour)
		log.Want("later")
	})
}
