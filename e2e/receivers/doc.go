// SPDX-License-Identifier: Apache-2.0

// Package receivers starts real log servers for tests, kills them with SIGKILL,
// starts them again, and reads the records that have arrived. The servers are
// built or fetched once, into the user's cache; where that is impossible, tests
// are skipped with the reason.
package receivers
