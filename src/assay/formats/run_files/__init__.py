"""What a run keeps on disk: its folder, its manifest, the registry of runs, the ledger of a test split."""
