"""Files in and out, in every format that Assay reads or writes."""
