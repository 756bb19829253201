// SPDX-License-Identifier: Apache-2.0

//go:build !nibfast

package pool

const (
	// placesPerCPU is how many shards there are for each processor: some more,
	// since goroutines that run at the same time may have the same place.
	placesPerCPU = 8

	adaptive    = false
	sampleEvery = 1
)

type sample struct{}

// placing tells a caller which shard to use: one that depends on its goroutine.
type placing struct{ crowding }

func (*placing) byCPU() bool { return false }

func cpu() uintptr { return 0 }

func (*placing) look(*sample) {}
