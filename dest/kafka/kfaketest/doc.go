// SPDX-License-Identifier: Apache-2.0

// Package kfaketest tests dest/kafka against kfake, a Kafka cluster in the
// process. It is a module of its own, because kfake has no releases: a module
// that requires one of its revisions, if only for tests, passes that on to its
// users.
package kfaketest
