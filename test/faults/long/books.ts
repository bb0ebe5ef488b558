import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../../src/storage/sqlite/driver.ts'
import { sendUntilAcknowledged } from '../http-client.ts'
import type { TestInstallation } from '../setup.ts'

/** What clients were promised: token → id of the message. */
export type Promised = Map<string, string>

/** HTTP clients that each send one mail after another with an Idempotency-Key until they are stopped; resolves when
 *  all have stopped. With `patient` each stops only after a 202 to its last mail. With `gullible` they count a sent
 *  mail as promised, like clients of a server that answers before it commits. */
export function startClients(
  installation: TestInstallation,
  options: { run: string; count: number; text?: string; patient?: boolean; gullible?: boolean },
): { promised: Promised; stop(): Promise<void> } {
  const { run, count, text = 'Hello', patient = true, gullible = false } = options
  const promised: Promised = new Map()
  let isOver = false
  const clients = Array.from({ length: count }, async (_, client) => {
    for (let n = 0; !isOver; n++) {
      const token = `${run}-${client}-${n}`
      let tries = 0
      if (gullible) promised.set(token, '')
      const isEnough = () => (gullible ? tries++ > 0 : isOver && !patient)
      await sendUntilAcknowledged(installation, token, promised, { text, isOver: isEnough })
    }
  })
  return {
    promised,
    stop: async () => {
      isOver = true
      await Promise.all(clients)
    },
  }
}

/** The content of a data directory without a server: whether SQLite finds it intact, the ids of its outbound and inbound
 *  messages, and how many outbound ones each idempotency key has. */
export function readStore(dataDir: string): { integrity: string; ids: Set<string>; perSubject: Map<string, number> } {
  const file = join(dataDir, 'postrider.db')
  if (!existsSync(file)) throw new Error(`${file} is missing`)
  const db = connect(file, { busyTimeoutMs: 1_000 })
  try {
    const rows = db.prepare('select id, subject from messages').all() as { id: string; subject: string }[]
    const perSubject = new Map<string, number>()
    for (const { subject } of rows) perSubject.set(subject, (perSubject.get(subject) ?? 0) + 1)
    const integrity = db.pragma('integrity_check(1)', { simple: true }) as string
    const inbound = db.prepare<unknown[], string>('select id from inbound_messages').pluck().all()
    return { integrity, ids: new Set([...rows.map(({ id }) => id), ...inbound]), perSubject }
  } finally {
    db.close()
  }
}

/** Duplicate subjects: a key that created two messages. */
export const twice = (perSubject: Map<string, number>) => [...perSubject].filter(([, count]) => count > 1).length
