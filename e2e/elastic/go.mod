module github.com/nib-log/nib/e2e/elastic

go 1.25.0

require (
	github.com/nib-log/nib v0.1.0
	github.com/nib-log/nib/e2e v0.0.0
)

replace (
	github.com/nib-log/nib => ../..
	github.com/nib-log/nib/e2e => ..
)
