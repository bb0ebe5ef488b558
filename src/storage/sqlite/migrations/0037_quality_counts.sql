-- By the name that PostgreSQL has, so that one statement reads both.
alter table outcomes rename to quality_counts;
