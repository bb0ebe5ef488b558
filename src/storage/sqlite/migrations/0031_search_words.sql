-- The full text index of SQLite merged and deleted without a limit. It goes at once; maintenance fills this one.
drop table message_search;
drop table message_search_state;

-- Which messages of a range of numbers contain a word, or have a search token, which begins with `=` (search-words.ts).
create table search_words (
  range integer not null,
  word text not null,
  members blob not null,
  primary key (range, word)
) strict, without rowid;

-- Messages that were removed or changed since they were indexed; their words leave the index later (search-cleaning.ts).
create table search_outdated (
  number integer primary key
) strict;

-- The index contains the messages from `first` to `last`. It grows at both ends, until `first` is 0.
create table search_state (
  one integer primary key check (one = 1),
  first integer not null,
  last integer not null
) strict;
insert into search_state (one, first, last)
  select 1, coalesce(max(number) + 1, 0), coalesce(max(number), 0) from messages;
