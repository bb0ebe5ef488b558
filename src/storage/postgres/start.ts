import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Encryption } from '../encryption.ts'
import { firstEncryption, knownEncryption, proofOf } from '../encryption-key.ts'
import { StoreMoved } from '../errors.ts'
import type { DatabaseAddress } from './address.ts'
import { type Connection, inTransaction } from './connection.ts'
import { createHistory, type History } from './history.ts'
import { requireServing } from './instance.ts'
import { migrate } from './migrate.ts'
import type { NodeOptions } from './node-options.ts'
import { type Registered, registerNode } from './nodes.ts'
import { checkRequirements, connectOnce } from './requirements.ts'

const TIME = 'select extract(epoch from clock_timestamp())::float8 * 1000 as time'
const PROOF = 'select proof from seal'
const KEEP_PROOF = 'insert into seal (one, proof) values (1, $1)'

/** Creates or upgrades the tables, checks the encryption key of the data directory, and registers this process as a
 *  node. `now`: ms UTC. `onUpgrade` gets the schema steps of an upgrade. Throws as openPostgresStore. */
export async function startNode(
  address: DatabaseAddress,
  options: {
    dataDir: string
    now: number
    onUpgrade: ((steps: readonly string[]) => void) | undefined
    node: NodeOptions
  },
): Promise<Registered & { encryption: Encryption; history: History }> {
  const { dataDir, now, onUpgrade, node } = options
  const { name = '', hostname = '', version = '', isCommand = false } = node
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const connection = await connectOnce(address)
  try {
    await checkRequirements(connection)
    const steps = await migrate(connection, now)
    if (steps.length > 0) onUpgrade?.(steps)
    const history = await openHistory(connection, { dataDir, isCommand })
    await readTime(connection, node)
    const encryption = await openEncryption(dataDir, connection)
    const registered = await registerNode(connection, {
      dataDir: isCommand ? null : dataDir,
      key: crypto.randomUUID(),
      name,
      hostname,
      version,
      keyName: encryption.keyName,
      placement: node.placement?.published ?? null,
      settings: node.settings === undefined ? null : digestsOf(node.settings, encryption),
    })
    return { ...registered, encryption, history }
  } finally {
    connection.close()
  }
}

/** Settings by their dotted path → keyed digests of them. */
export function digestsOf(settings: ReadonlyMap<string, string>, encryption: Encryption): Record<string, string> {
  return Object.fromEntries([...settings].map(([path, value]) => [path, encryption.digest(value, `settings ${path}`)]))
}

/** Throws StoreMoved if the database must not be served. */
async function openHistory(
  connection: Connection,
  { dataDir, isCommand }: { dataDir: string; isCommand: boolean },
): Promise<History> {
  const instance = await requireServing(connection)
  const history = createHistory(join(dataDir, 'history.json'), instance, { isReadOnly: isCommand })
  const fault = await history.check(connection)
  if (fault !== null) throw new StoreMoved(fault)
  return history
}

/** Before anything is written with the clock of this machine. */
async function readTime(connection: Connection, { onTime }: NodeOptions): Promise<void> {
  const sentAt = performance.now()
  const [row] = await connection.query<{ time: number }>(TIME)
  if (row !== undefined) onTime?.(row.time, performance.now() - sentAt)
}

/** The key is created at the first start of the installation; a second node brings a copy of it. */
async function openEncryption(dataDir: string, connection: Connection): Promise<Encryption> {
  const known = await proofIn(connection)
  return knownEncryption(dataDir, known ?? (await keepProof(dataDir, connection)))
}

async function proofIn(connection: Connection): Promise<Uint8Array | null> {
  const [row] = await connection.query<{ proof: Uint8Array }>(PROOF)
  return row?.proof ?? null
}

/** Of two nodes that start, the first creates the key. */
function keepProof(dataDir: string, connection: Connection): Promise<Uint8Array> {
  return inTransaction(connection, async () => {
    await connection.query('lock table seal')
    const known = await proofIn(connection)
    const proof = known ?? proofOf(firstEncryption(dataDir))
    if (known === null) await connection.run(KEEP_PROOF, [proof])
    return proof
  })
}
