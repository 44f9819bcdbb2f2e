"""Running things many times: shards in a process pool, observations of a target, requests to a judge."""
