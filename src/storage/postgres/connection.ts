import { type ReservedSQL, SQL } from 'bun'
import { isRecord } from '../../os/records.ts'
import { withinDeadline } from '../../os/within.ts'
import type { DatabaseAddress } from './address.ts'
import { decodeRows, encodeTexts } from './texts.ts'

/** One connection to the server that accepts writes. Not a pool: a writing lane must be able to end its connection
 *  and to ask a new one what became of the statement. */
export interface Connection {
  /** Runs one statement → its rows. `values` belong to $1, $2, … in `text`; texts may contain any character.
   *
   *  Rejects with Refused if PostgreSQL refused the statement, which then changed nothing. Rejects with NoAnswer if
   *  the connection broke or `deadlineMs` passed: the statement may have been committed, and the connection is closed. */
  query<Row>(text: string, values?: readonly unknown[], deadlineMs?: number): Promise<Row[]>
  /** The same for a statement that writes → the number of rows that it wrote or deleted. */
  run(text: string, values?: readonly unknown[]): Promise<number>
  /** Ends the connection. Running statements reject with NoAnswer. */
  close(): void
}

/** PostgreSQL refused a statement and changed nothing. `code` is the SQLSTATE (manual, appendix A). */
export class Refused extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.name = 'Refused'
    this.code = code
  }
}

/** The result of a statement is unknown. */
export class NoAnswer extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NoAnswer'
  }
}

/** Opens a connection with that name and further session settings. */
export type Open = (name: string, settings?: Readonly<Record<string, string>>) => Promise<Connection>

export interface ConnectionOptions {
  address: DatabaseAddress
  /** Appears in pg_stat_activity. */
  name: string
  /** Further session settings. */
  settings?: Readonly<Record<string, string>>
}

/** Longest time to connect to one host. */
const CONNECT_MS = 3_000
/** Before the next host is tried beside a silent one. */
const HEAD_START_MS = 250
/** Our deadline lies after PostgreSQL's own, so that a slow statement is normally refused and not in doubt. */
const DEADLINE_MS = 12_000
/** A transaction that a lost node left open must not hold its locks for hours. */
const SETTINGS = {
  statement_timeout: '10s',
  lock_timeout: '5s',
  idle_in_transaction_session_timeout: '5s',
  tcp_user_timeout: '5000',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '2',
}

/** Connects to a host that accepts writes, the first ones first: the next is tried too when one fails or is silent. Rejects
 *  with NoAnswer, which names each host and its error. */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  let isDecided = false
  let turn: Promise<unknown> = Promise.resolve()
  const attempts = options.address.hosts.map((host) => {
    const attempt = turn.then(async () => {
      if (isDecided) throw new Error('not tried')
      const connection = await openWritable(options, host)
      if (isDecided) connection.close()
      isDecided = true
      return connection
    })
    turn = Promise.race([turn.then(() => sleep(HEAD_START_MS)), new Promise((failed) => attempt.catch(failed))])
    return attempt
  })
  try {
    return await Promise.any(attempts)
  } catch (error) {
    const errors = error instanceof AggregateError ? error.errors : [error]
    throw new NoAnswer(`no server accepts writes (${errors.map((each) => each.message).join('; ')})`)
  }
}

/** Rejects with an Error that names the host. */
async function openWritable(options: ConnectionOptions, host: DatabaseAddress['hosts'][number]): Promise<Connection> {
  const connection = new OneConnection(options, host)
  try {
    await connection.open()
    const settings = { ...SETTINGS, ...options.settings }
    const [row] = await connection.query<{ standby: boolean }>(firstStatement(settings))
    if (row?.standby === false) return connection
    throw new Error('does not accept writes')
  } catch (error) {
    connection.close()
    throw new Error(`${host.host}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Performs a work in a transaction, which `begin` begins → its result. Rejects with what the work rejects with; then nothing
 *  was written. */
export async function inTransaction<T>(
  connection: Pick<Connection, 'query'>,
  work: () => Promise<T>,
  begin = 'begin',
): Promise<T> {
  await connection.query(begin)
  try {
    const value = await work()
    await connection.query('commit')
    return value
  } catch (error) {
    await connection.query('rollback')
    throw error
  }
}

/** In one round trip. Not in the startup message: connection pools refuse settings there, or drop them. */
function firstStatement(settings: Readonly<Record<string, string>>): string {
  const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`)
  return `select pg_is_in_recovery() as standby, array[${set.join(', ')}]`
}

/** Options and one of the hosts → those of the driver. */
export function driverOptions(
  { address, name }: ConnectionOptions,
  { host, port }: DatabaseAddress['hosts'][number],
): Bun.SQL.PostgresOrMySQLOptions {
  const { user, password, database, tls, ca } = address
  return {
    adapter: 'postgres',
    ...(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { hostname: host, port }),
    username: user,
    password,
    database,
    tls: tls === 'none' ? false : { rejectUnauthorized: tls === 'verify', ...(ca === undefined ? {} : { ca }) },
    idleTimeout: 0,
    maxLifetime: 0,
    connectionTimeout: CONNECT_MS / 1000,
    bigint: true, // decodeRows makes numbers of them; texts they would be else
    connection: { application_name: name },
  }
}

/** The driver sends a text without parameters by the simple protocol, and waits for its answer before it sends the next
 *  one. As a template it prepares it, and sends it together with others. */
const PREPARED = new Map(['begin', 'commit', 'rollback'].map((text) => [text, templateOf(text)]))

function templateOf(text: string): TemplateStringsArray {
  return Object.defineProperty([text], 'raw', { value: [text] }) as unknown as TemplateStringsArray // what it is now
}

class OneConnection implements Connection {
  readonly #sql: SQL
  #reserved: ReservedSQL | null = null
  #isClosed = false

  constructor(options: ConnectionOptions, host: DatabaseAddress['hosts'][number]) {
    this.#sql = new SQL({ ...driverOptions(options, host), max: 1, onclose: () => this.close() })
  }

  /** Reserves the connection, because otherwise Bun.SQL connects again by itself when the session ends, and the rest of
   *  a transaction would run outside of any. */
  async open(): Promise<void> {
    this.#reserved = await withinAnswer(this.#sql.reserve(), CONNECT_MS)
  }

  async query<Row>(text: string, values: readonly unknown[] = [], deadlineMs = DEADLINE_MS): Promise<Row[]> {
    // The driver's array has further properties.
    const rows = [...(await this.#ask<Row[]>(text, values, deadlineMs))]
    decodeRows(rows as object[])
    return rows
  }

  async run(text: string, values: readonly unknown[] = []): Promise<number> {
    const { count } = await this.#ask<{ count: number }>(text, values, DEADLINE_MS)
    return count
  }

  async #ask<Answer>(text: string, values: readonly unknown[], deadlineMs: number): Promise<Answer> {
    if (this.#reserved === null) throw new NoAnswer('the connection is closed')
    try {
      // A query of Bun.SQL starts only with execute() or await.
      const prepared = PREPARED.get(text)
      const query = prepared !== undefined ? this.#reserved(prepared) : this.#reserved.unsafe(text, encodeTexts(values))
      return await withinAnswer<Answer>(query.execute(), deadlineMs)
    } catch (error) {
      const known = errorOf(error)
      if (known instanceof NoAnswer) this.close()
      throw known
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#reserved = null
    this.#sql.close({ timeout: 0 }).catch(() => {})
  }
}

/** Rejects with NoAnswer if `answer` does not come in time. */
export function withinAnswer<T>(answer: Promise<T>, deadlineMs: number): Promise<T> {
  return withinDeadline(answer, deadlineMs, () => new NoAnswer(`no response within ${deadlineMs} ms`))
}

/** SQLSTATE classes after which the session is gone, and the result unknown: connection exceptions and shutdowns. */
const GONE = ['08', '57P']

/** Error of the driver → Refused or NoAnswer; any other error, which is a bug, is returned unchanged. */
function errorOf(error: unknown): unknown {
  if (!(error instanceof SQL.PostgresError)) return error
  const code = isRecord(error) && typeof error.errno === 'string' ? error.errno : ''
  if (code === '' || GONE.some((prefix) => code.startsWith(prefix))) {
    return new NoAnswer(error.message, { cause: error })
  }
  return new Refused(code, error.message)
}
