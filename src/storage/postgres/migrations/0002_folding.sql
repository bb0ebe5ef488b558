-- Counters of lanes, to add up those of lanes that have ended (ended-nodes.ts). Lane 0 has their sums.
create index usage_of_lanes on usage (lane_id) where lane_id <> 0;
create index stats_of_lanes on stats (lane_id) where lane_id <> 0;
create index quality_counts_of_lanes on quality_counts (lane_id) where lane_id <> 0;
