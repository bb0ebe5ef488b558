import { parseDatabaseUrl } from '../../src/storage/postgres/address.ts'
import { type Connection, connect } from '../../src/storage/postgres/connection.ts'
import { migrate } from '../../src/storage/postgres/migrate.ts'
import type { TestPostgres } from '../support/postgres.ts'

const DATABASE = 'migrated'

/** Server → a function that creates a database with the current tables and no rows, and returns its URL. It copies the
 *  files of one, which takes less than half of the CPU time of all migrations. */
export async function createMigrated(postgres: TestPostgres): Promise<() => Promise<string>> {
  const { connection } = await migrated(postgres)
  connection.close()
  let databases = 0
  return async () => {
    const name = `copy${++databases}`
    postgres.psql(`create database ${name} template ${DATABASE} strategy file_copy`)
    return postgres.url(name)
  }
}

/** Server → a function that returns the URL of a database with the current tables and no rows. It is always the same
 *  one, emptied, so that sessions can stay open: see keepSessions. */
export async function createEmptied(postgres: TestPostgres): Promise<() => Promise<string>> {
  const { url, connection } = await migrated(postgres)
  await connection.query(DEFINE_EMPTY)
  return async () => {
    await connection.query('select migrated.empty()')
    return url
  }
}

async function migrated(postgres: TestPostgres): Promise<{ url: string; connection: Connection }> {
  const url = await postgres.createDatabase(DATABASE)
  const connection = await connect({ address: parseDatabaseUrl(url), name: DATABASE })
  await migrate(connection, 0)
  return { url, connection }
}

/** Defines a function that brings the rows of all tables back to those of the migrations, which it keeps. Not truncate,
 *  after which sessions plan all their statements again. As a replica, it fires no triggers. */
const DEFINE_EMPTY = `do $do$ declare name text; has_rows boolean; statements text := ''; begin
  create schema migrated;
  for name in select tablename from pg_tables where schemaname = 'public' loop
    execute format('select exists (table public.%I)', name) into has_rows;
    if has_rows then
      execute format('create table migrated.%1$I as table public.%1$I', name);
      statements := statements || format('
        delete from public.%1$I t where t::text not in (select m::text from migrated.%1$I m);
        insert into public.%1$I overriding system value (table migrated.%1$I except table public.%1$I);', name);
    else
      statements := statements || format(' delete from public.%I;', name);
    end if;
  end loop;
  execute format('create function migrated.empty() returns void language plpgsql
    set session_replication_role = replica as %L', 'begin ' || statements || ' end');
end $do$`
