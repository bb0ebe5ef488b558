import { expect, test } from 'bun:test'
import { schemaToSqlite } from './translate-schema.ts'

test('a table gets the types of SQLite, and is stored in the order of its key', () => {
  expect(
    schemaToSqlite(`create table a (
  id text collate "C" primary key,
  is_new boolean not null default false, -- (both); see below
  at bigint not null,
  size int not null,
  share double precision,
  hash bytea not null unique
);
create index a_new on a (at) where is_new;`),
  ).toBe(`create table a (
  id text primary key,
  is_new integer not null default false, -- (both); see below
  at integer not null,
  size integer not null,
  share real,
  hash blob not null unique
) strict, without rowid;
create index a_new on a (at) where is_new;`)
})

test('a table with a number as key keeps its row ID, and an identity counts up', () => {
  expect(schemaToSqlite('create table a (\n  one int primary key check (one = 1)\n);')).toBe(
    'create table a (\n  one integer primary key check (one = 1)\n) strict;',
  )
  expect(schemaToSqlite('create table a (\n  number bigint generated always as identity primary key\n);')).toBe(
    'create table a (\n  number integer primary key autoincrement\n) strict;',
  )
})

test('only the listed tables with another key have a row ID', () => {
  const columns = 'key text not null,\n  primary key (key)'
  const optionsOf = (name: string) => schemaToSqlite(`create table ${name} (\n  ${columns}\n);`).split('\n)')[1]
  expect(optionsOf('idempotency')).toBe(' strict;')
  expect(optionsOf('sessions')).toBe(' strict, without rowid;')
})

test('a new column has the type of SQLite', () => {
  expect(schemaToSqlite('alter table a add column b boolean not null default false;')).toBe(
    'alter table a add column b integer not null default false;',
  )
})

test('numbers of the listed tables never come again', () => {
  const table = (name: string) => schemaToSqlite(`create table ${name} (\n  number bigint primary key\n);`)
  expect(table('messages')).toBe('create table messages (\n  number integer primary key autoincrement\n) strict;')
  expect(table('deliveries')).toBe('create table deliveries (\n  number integer primary key\n) strict;')
})
