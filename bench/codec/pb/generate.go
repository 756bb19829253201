// SPDX-License-Identifier: Apache-2.0

// Package pb is a log line as a protocol buffer, generated from line.proto:
//
//	go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.3
//	go generate ./codec/pb
//
// That is the last release of the plugin whose code does without package
// unsafe; how a message is encoded is up to the module itself, which is a newer
// one. The compiler is protoc 33.1: Maven Central has it as a program for each
// platform, com.google.protobuf:protoc:4.33.1:exe.
package pb

//go:generate protoc --go_out=. --go_opt=paths=source_relative line.proto
