// SPDX-License-Identifier: Apache-2.0

// Package kills runs services that log through a spool to a real server, kills
// the services and the server with SIGKILL at random moments, and counts the
// records that have arrived.
package kills
