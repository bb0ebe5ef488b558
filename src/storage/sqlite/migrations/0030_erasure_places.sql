-- Places that still named the address when the erasure ended, JSON.
alter table erasures add column remaining text not null default '[]';
