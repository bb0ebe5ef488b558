import { DatabaseUnusable } from '../errors.ts'
import { type DatabaseAddress, databaseAddress } from './address.ts'
import { type Connection, connect, NoAnswer } from './connection.ts'
import { keepsSession } from './facts.ts'

/** The oldest version that the tests run with. */
const OLDEST_VERSION = 15

const STATE = `select current_setting('server_version_num')::int as version, current_user as user,
    current_database() as database, coalesce(current_schema(), '') as schema,
    (select pg_encoding_to_char(encoding) from pg_database where datname = current_database()) as encoding,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
    (select pg_get_userbyid(c.relowner) from pg_class c where c.oid = to_regclass('nodes')) as owner,
    (select pg_has_role(c.relowner, 'usage') from pg_class c where c.oid = to_regclass('nodes')) as "isOwner"`

interface State {
  version: number
  user: string
  database: string
  schema: string
  encoding: string
  mayCreate: boolean
  /** Of the tables; null = there are none. */
  owner: string | null
  isOwner: boolean | null
}

/** Throws DatabaseUnusable if this database cannot have our tables, or has those of somebody else. */
export async function checkRequirements(connection: Connection): Promise<void> {
  const [state] = await connection.query<State>(STATE)
  const fault = state === undefined ? 'PostgreSQL does not respond.' : faultOf(state)
  if (fault !== null) throw new DatabaseUnusable(fault)
}

function faultOf(state: State): string | null {
  const { version, user, database, schema, encoding, mayCreate, owner, isOwner } = state
  const major = Math.floor(version / 10_000)
  if (major < OLDEST_VERSION) return `PostgreSQL ${major} is too old. Use PostgreSQL ${OLDEST_VERSION} or newer.`
  if (encoding !== 'UTF8') {
    return `the database ${database} has encoding ${encoding} instead of UTF8. Create another one: create database postrider template template0 encoding 'UTF8'`
  }
  if (owner !== null && isOwner !== true) {
    return `the tables in ${database} belong to ${owner}, and ${user} does not have its rights. Use the URL of ${owner}, or run: grant ${owner} to ${user}`
  }
  if (!mayCreate) {
    return `the user ${user} may not create tables in ${database}. Run as its owner: grant create, usage on schema ${schema || 'public'} to ${user}`
  }
  return null
}

/** What the start and joining nodes have to know before they write anything. */
export interface DatabaseState {
  /** By which the encryption key is recognised; null = there is no installation yet. */
  proof: Uint8Array | null
  /** Names of the nodes that have not ended. */
  names: string[]
}

const HAS_TABLES = `select to_regclass('seal') is not null and to_regclass('nodes') is not null as found`
const PROOF = 'select proof from seal'
const NAMES = 'select name from nodes where handles_mail and ended_at is null order by name'

/** URL and CA file of a database → what is in it. Changes nothing. Throws DatabaseUnusable if it cannot be used. */
export async function inspectDatabase(database: { url: string; caFile: string | null }): Promise<DatabaseState> {
  const address = databaseAddress(database)
  const connection = await connectOnce(address)
  try {
    await checkRequirements(connection)
    if (!(await keepsSession(() => connectOnce(address)))) {
      throw new DatabaseUnusable(
        'a connection pool gives sessions another server connection after each transaction. Set pool_mode = session, or connect to PostgreSQL directly.',
      )
    }
    const [tables] = await connection.query<{ found: boolean }>(HAS_TABLES)
    if (!tables?.found) return { proof: null, names: [] }
    const [seal] = await connection.query<{ proof: Uint8Array }>(PROOF)
    const names = await connection.query<{ name: string }>(NAMES)
    return { proof: seal?.proof ?? null, names: names.map(({ name }) => name) }
  } finally {
    connection.close()
  }
}

/** Connects like `connect`; throws DatabaseUnusable, with advice, if no server accepts writes. */
export async function connectOnce(address: DatabaseAddress, name = 'start'): Promise<Connection> {
  try {
    return await connect({ address, name: `postrider ${name}` })
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    throw new DatabaseUnusable(`${error.message}. ${adviceFor(error.message)}`, { cause: error })
  }
}

/** Parts of PostgreSQL's and the driver's messages, and what to do; the first that matches. */
const ADVICE: readonly [part: string, advice: string][] = [
  ['password authentication failed', 'Correct user and password in the database URL.'],
  ['pg_hba.conf', 'Allow this user and machine in pg_hba.conf of the server.'],
  ['role "', 'Create the user in PostgreSQL: createuser --pwprompt postrider'],
  ['does not exist', 'Create the database: createdb --owner postrider --encoding UTF8 --template template0 postrider'],
  ['SSL', 'Turn TLS on in PostgreSQL, or add ?sslmode=disable to the URL on a private network.'],
  ['ertificate', 'Name the CA of the server in database.ca_file, or correct the host in the URL.'],
  ['too many', 'Raise max_connections in PostgreSQL: each node uses 13 connections.'],
  ['does not accept writes', 'Add the primary server to the URL, or promote one.'],
]

function adviceFor(message: string): string {
  const known = ADVICE.find(([part]) => message.includes(part))
  return (
    known?.[1] ??
    'Check host and port in the database URL, and that PostgreSQL runs and the firewall lets this machine in.'
  )
}
