module github.com/nib-log/nib/e2e/kafka

go 1.26.0

require (
	github.com/nib-log/nib v0.1.0
	github.com/nib-log/nib/bridge/niblogrus v0.1.0
	github.com/nib-log/nib/dest/kafka v0.1.0
	github.com/nib-log/nib/dest/kafka/embedded v0.1.0
	github.com/nib-log/nib/e2e v0.0.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/sirupsen/logrus v1.10.2
	github.com/twmb/franz-go v1.22.2
	github.com/twmb/franz-go/pkg/kfake v0.0.0-20260918054303-01f206a7e32c
	github.com/twmb/franz-go/pkg/kmsg v1.15.0
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace (
	github.com/nib-log/nib => ../..
	github.com/nib-log/nib/bridge/niblogrus => ../../bridge/niblogrus
	github.com/nib-log/nib/dest/kafka => ../../dest/kafka
	github.com/nib-log/nib/dest/kafka/embedded => ../../dest/kafka/embedded
	github.com/nib-log/nib/e2e => ..
)
