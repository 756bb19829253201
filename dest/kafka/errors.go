// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"errors"
	"fmt"

	"github.com/nib-log/nib/delivery"
	"github.com/twmb/franz-go/pkg/kerr"
)

// ErrFenced means that a later process has the transactional id. Deliver,
// Resume and the reasons of rejections wrap it, [delivery.ErrClosed],
// [delivery.ErrStalled], [delivery.ErrTooLarge], and the errors of brokers
// (package kerr of franz-go) and of the network.
var ErrFenced = errors.New("nib/kafka: a later process has the transactional id")

var (
	errClosed   = fmt.Errorf("nib/kafka: %w", delivery.ErrClosed)
	errTooLarge = fmt.Errorf("nib/kafka: %w for a request", delivery.ErrTooLarge)
)

// errUnsure means that the broker expects another sequence number of the
// producer: its records of the spool must be searched before anything is sent.
var errUnsure = errors.New("nib/kafka: the broker does not know what this producer has sent")

// errTimeout means that a broker has not responded within Config.Timeout.
var errTimeout = fmt.Errorf("no answer within Config.Timeout: %w", delivery.ErrStalled)

// errUnstored means that the mark must be stored before anything is sent.
var errUnstored = errors.New("nib/kafka: the mark is not stored")

// errNoLeader means that a partition has no leader at the moment.
var errNoLeader = errors.New("nib/kafka: the partition has no leader")

// errIncomplete means that a part of a partition could not be read.
var errIncomplete = errors.New("nib/kafka: the end of the partition cannot be read yet")

// An answer is the meaning of a broker's error code for a batch.
type answer int

const (
	accepted answer = iota
	retry           // retry at once, or when an operator has fixed the cause
	tooLarge        // a batch is too large for the broker or the topic
	invalid         // the record will never be accepted
	unsure          // see errUnsure
	unclear         // the record, if it remains so and others are accepted
)

// classify returns the meaning of a code of a produce response. Errors that are
// not about the contents of records are retried: a missing topic, a missing
// permission, a policy and a quota can be fixed while the records wait. Any
// other code may be about the broker or a record.
func classify(code int16) answer {
	switch code {
	case 0:
		return accepted
	case kerr.MessageTooLarge.Code, kerr.RecordListTooLarge.Code:
		return tooLarge
	case kerr.InvalidRecord.Code, kerr.InvalidTimestamp.Code:
		return invalid
	case kerr.OutOfOrderSequenceNumber.Code, kerr.DuplicateSequenceNumber.Code,
		kerr.UnknownProducerID.Code, kerr.InvalidProducerEpoch.Code,
		kerr.InvalidProducerIDMapping.Code, kerr.InvalidTxnState.Code, kerr.ProducerFenced.Code:
		return unsure
	case kerr.CorruptMessage.Code:
		return unclear
	case kerr.InvalidTopicException.Code, kerr.InvalidRequiredAcks.Code,
		kerr.TopicAuthorizationFailed.Code, kerr.ClusterAuthorizationFailed.Code,
		kerr.TransactionalIDAuthorizationFailed.Code, kerr.UnsupportedVersion.Code,
		kerr.UnsupportedForMessageFormat.Code, kerr.UnsupportedCompressionType.Code,
		kerr.PolicyViolation.Code, kerr.SecurityDisabled.Code,
		kerr.SaslAuthenticationFailed.Code, kerr.InvalidConfig.Code:
		return retry
	}
	if kerr.IsRetriable(kerr.ErrorForCode(code)) {
		return retry
	}
	return unclear
}

// brokerError returns an error for a code and the broker's message.
func brokerError(what, topic string, code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	if err == nil {
		return nil
	}
	if message != nil && *message != "" {
		return fmt.Errorf("nib/kafka: %s %s: %w (%s)", what, topic, err, *message)
	}
	return fmt.Errorf("nib/kafka: %s %s: %w", what, topic, err)
}
