// SPDX-License-Identifier: Apache-2.0

// Package elastic delivers lines from a spool to an index or a data stream of
// OpenSearch or Elasticsearch, each line once.
//
//	out, err := elastic.New("http://opensearch:9200", "logs-app", elastic.Config{})
//	if err != nil {
//		return err
//	}
//	defer out.Close()
//	s, err := spool.Open("/var/spool/app", out, spool.Config{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	log := nib.NewSink(s, nib.WithLayout(layout.ECS()))
//
// Each line becomes a document, unchanged. The layout ECS has the fields that
// data streams and dashboards expect.
//
// # Each line once
//
// The _id of a document is a random number of the process that has logged the
// line, and the number of the record, and documents are only created, never
// replaced. A request that is repeated, because a response was lost or the
// process or a server died, creates nothing twice: the server reports that the
// document exists, and the record counts as delivered. If its own process has
// never sent it, another document has its _id, and it is rejected. This holds
// within one index. A data stream that rolled over in between may have the line
// in two of its backing indices, with the same _id.
//
// docs/elastic.md describes what happens in each case of failure.
package elastic
