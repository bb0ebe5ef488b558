-- Places that still named the address when the erasure ended, JSON.
alter table erasures add column remaining text not null default '[]';

-- There are more steps now, and their cursors differ: what runs begins again.
update erasures set step = 0, after = '' where finished_at is null;
