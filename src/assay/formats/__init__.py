"""Files in and out: strict JSON and YAML, golden sets, outputs, TREC, corpora, labels, settings, run folders."""
