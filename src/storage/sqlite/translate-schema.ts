/** Tables whose rows SQLite keeps in the order in which they came, with a row ID, and a small index for the key. */
const WITH_ROW_ID = [
  'idempotency', // hashes come in no order: responses are appended, and only the index is written everywhere
  'content_parts', // each fills pages of its own
  'template_versions', // the texts are long: lists of versions read the index
  // Retention finds them by an index of their age, and removes them by row ID.
  'policy_reports',
  'dmarc_sources',
  'tls_results',
]

/** Tables whose numbers never come again, also when the last row is removed: cursors and parts of contents outlive rows. */
const COUNTING_UP = ['messages', 'large_contents', 'events', 'inbound_raws', 'inbound_messages']

/** PostgreSQL's text of tables → SQLite's:
 *  - Numbers and booleans are `integer` or `real`, bytes `blob`.
 *  - The collation of bytes goes, because it is SQLite's own.
 *  - An identity, and the number of a table of COUNTING_UP, is an `integer primary key autoincrement`, which also never
 *    gives a number twice.
 *  - Tables are strict. One that has another key than a number is stored in the order of its key, as `without rowid`,
 *    except WITH_ROW_ID.
 *
 *  The text is part of the schema: after a release, another one refuses every store (migrate.ts). */
export function schemaToSqlite(text: string): string {
  return text
    .replaceAll('bigint generated always as identity primary key', 'integer primary key autoincrement')
    .replaceAll(/\b(bigint|int|smallint|boolean)\b/g, 'integer')
    .replaceAll('double precision', 'real')
    .replaceAll(/\bbytea\b/g, 'blob')
    .replaceAll(' collate "C"', '')
    .split(/^(?=create table )/m)
    .map(withOptions)
    .join('')
}

/** A text that begins with a table, or comes before the first one → the same, the table with SQLite's options. */
function withOptions(text: string): string {
  const name = /^create table (\w+)/.exec(text)?.[1]
  if (name === undefined) return text
  const end = text.indexOf('\n);') + '\n)'.length
  const isByNumber = text.slice(0, end).includes(' integer primary key')
  const options = isByNumber || WITH_ROW_ID.includes(name) ? 'strict' : 'strict, without rowid'
  const columns = COUNTING_UP.includes(name)
    ? text.slice(0, end).replace(' integer primary key', ' integer primary key autoincrement')
    : text.slice(0, end)
  return `${columns} ${options}${text.slice(end)}`
}
