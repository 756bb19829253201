// SPDX-License-Identifier: Apache-2.0

// Package kfaketest tests dest/kafka against kfake, an in-process Kafka
// cluster. It is a separate module because kfake has no releases: a module that
// requires one of its revisions, even only for tests, imposes that requirement
// on its users.
package kfaketest
