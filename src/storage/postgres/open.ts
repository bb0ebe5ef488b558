import { type Plan, UNLIMITED_PLAN } from '../../model/organization.ts'
import type { Encryption } from '../encryption.ts'
import { firstEncryption, knownEncryption, proofOf } from '../encryption-key.ts'
import type { Store } from '../store.ts'
import { parseDatabaseUrl } from './address.ts'
import { postgresApiKeys } from './api-keys.ts'
import { createAuditRecorder, postgresAuditLog } from './audit-log.ts'
import { postgresBlockedLinks } from './blocked-links.ts'
import { type Connection, connect } from './connection.ts'
import { postgresDomains } from './domains.ts'
import { postgresForwardTargets } from './forward-targets.ts'
import { postgresIdempotency, rememberInside } from './idempotency.ts'
import { postgresInboundRoutes } from './inbound-routes.ts'
import { migrate } from './migrate.ts'
import { createMirrors, loadMirrors } from './mirrors.ts'
import { postgresMtaSts } from './mta-sts.ts'
import { postgresOrganizations } from './organizations.ts'
import { createReads } from './reads.ts'
import { postgresSessions } from './sessions.ts'
import { postgresSnapshot } from './snapshot.ts'
import { postgresSuppressions } from './suppressions.ts'
import { postgresTemplates } from './templates.ts'
import { postgresTlsSessions } from './tls-sessions.ts'
import { createTransactions } from './transactions.ts'
import { createUsage } from './usage.ts'
import { postgresWebhooks } from './webhooks.ts'
import { createWriter, type Writer } from './writer.ts'

/** The roles that PostgreSQL stores so far. */
export type SettingsStore = Pick<
  Store,
  | 'organizations'
  | 'domains'
  | 'blockedLinks'
  | 'apiKeys'
  | 'sessions'
  | 'suppressions'
  | 'templates'
  | 'forwardTargets'
  | 'webhooks'
  | 'inboundRoutes'
  | 'mtaSts'
  | 'tlsSessions'
  | 'idempotency'
  | 'auditLog'
  | 'secret'
  | 'close'
> & { snapshot: ReturnType<typeof postgresSnapshot> }

const LANE = 'insert into nodes default values returning id'
const PROOF = 'select proof from seal'
const KEEP_PROOF = 'insert into seal (one, proof) values (1, $1)'

/** URL of a database, and the data directory with the encryption key → its store, created and upgraded where needed.
 *  `onUpgrade` gets the schema steps of an upgrade. `plans`: limits of the plan with that name; by default nothing is
 *  limited. Throws StoreMismatch for a newer schema, EncryptionKeyUnusable without its key, and NoAnswer if no server
 *  accepts writes. */
export async function openPostgresStore(options: {
  url: string
  dataDir: string
  now: number
  plans?: (name: string) => Plan
  onUpgrade?: (steps: readonly string[]) => void
}): Promise<SettingsStore> {
  const { url, dataDir, now, plans = () => UNLIMITED_PLAN, onUpgrade } = options
  const address = parseDatabaseUrl(url)
  const open = (name: string) => connect({ address, name: `postrider ${name}` })
  const first = await open('start')
  let encryption: Encryption
  let laneId: number
  try {
    const steps = await migrate(first, now)
    if (steps.length > 0) onUpgrade?.(steps)
    encryption = await openEncryption(dataDir, first)
    laneId = await addLane(first)
  } finally {
    first.close()
  }

  const reads = createReads(() => open('reads'))
  const mirrors = createMirrors(encryption)
  await loadMirrors(mirrors, reads).catch((error) => {
    reads.close()
    throw error
  })
  const transactions = createTransactions({ connect: () => open('settings'), laneId, writtenTo: () => 0 })
  const recorder = createAuditRecorder()
  const writer = createWriter(transactions, { reads, mirrors, accompany: recorder.accompany })
  const usage = createUsage(mirrors.organization, plans)
  const remember = rememberInside
  return {
    snapshot: postgresSnapshot(mirrors),
    organizations: postgresOrganizations(reads, writer, mirrors.organization),
    domains: postgresDomains(reads, writer, { mirror: mirrors.domain, encryption, remember, recorder }),
    blockedLinks: postgresBlockedLinks(reads, writer, mirrors.blockedLink),
    apiKeys: postgresApiKeys(reads, writer, { remember, usage }),
    sessions: postgresSessions(reads, writer),
    suppressions: postgresSuppressions(reads, writer, { remember, usage }),
    templates: postgresTemplates(reads, writer, { remember, usage }),
    forwardTargets: postgresForwardTargets(reads, writer, usage),
    webhooks: postgresWebhooks(reads, writer, { encryption, remember, usage }),
    inboundRoutes: postgresInboundRoutes(reads, writer, { encryption, remember, usage }),
    mtaSts: postgresMtaSts(reads, writer),
    tlsSessions: postgresTlsSessions(reads, writer),
    idempotency: postgresIdempotency(reads, writer),
    auditLog: postgresAuditLog(reads, writer, recorder),
    secret: secrets(writer, encryption),
    close: async () => {
      await transactions.close()
      reads.close()
    },
  }
}

async function addLane(connection: Connection): Promise<number> {
  const [row] = await connection.query<{ id: number }>(LANE)
  if (row === undefined) throw new Error('the lane has no row')
  return row.id
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
async function keepProof(dataDir: string, connection: Connection): Promise<Uint8Array> {
  await connection.query('begin')
  try {
    await connection.query('lock table seal')
    const known = await proofIn(connection)
    const proof = known ?? proofOf(firstEncryption(dataDir))
    if (known === null) await connection.run(KEEP_PROOF, [proof])
    await connection.query('commit')
    return proof
  } catch (error) {
    await connection.query('rollback')
    throw error
  }
}

/** Name and fresh secret → the secret that is stored under that name, the fresh one if there was none. */
function secrets(writer: Writer, encryption: Encryption): Store['secret'] {
  return (name, fresh) =>
    writer.write(async ({ query, run }) => {
      const place = `secrets ${name}`
      await run('insert into secrets (name, value) values ($1, $2) on conflict do nothing', [
        name,
        encryption.encrypt(fresh, place),
      ])
      const [row] = await query<{ value: Uint8Array }>('select value from secrets where name = $1', [name])
      if (row === undefined) throw new Error(`the secret ${name} was not stored`)
      return new Uint8Array(encryption.decrypt(row.value, place))
    })
}
