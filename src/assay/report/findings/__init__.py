"""What every report shows of a run: tables of metrics, slices and failures, doubts, limitations, target errors."""
