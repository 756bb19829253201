module github.com/nib-log/nib/internal/release

go 1.26.0

require golang.org/x/mod v0.42.0

require github.com/CycloneDX/cyclonedx-go v0.12.0
