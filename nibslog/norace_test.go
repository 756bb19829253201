// SPDX-License-Identifier: Apache-2.0

//go:build !race

package nibslog_test

const raceEnabled = false
