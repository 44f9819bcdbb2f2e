"""The parts of the handbook's question answering: reading, retrieval, answering, faults."""
