module github.com/nib-log/nib/cmd/demo

go 1.26.0

require (
	github.com/nib-log/nib v0.1.0
	github.com/nib-log/nib/cmd/nib v0.1.0
	github.com/nib-log/nib/dest/kafka v0.1.0
	github.com/nib-log/nib/dest/kafka/embedded v0.1.0
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/twmb/franz-go v1.22.2 // indirect
	github.com/twmb/franz-go/pkg/kfake v0.0.0-20260918054303-01f206a7e32c // indirect
	github.com/twmb/franz-go/pkg/kmsg v1.15.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
)

replace (
	github.com/nib-log/nib => ../..
	github.com/nib-log/nib/allocs => ../../allocs
	github.com/nib-log/nib/cmd/nib => ../../cmd/nib
	github.com/nib-log/nib/dest/kafka => ../../dest/kafka
	github.com/nib-log/nib/dest/kafka/embedded => ../../dest/kafka/embedded
)
