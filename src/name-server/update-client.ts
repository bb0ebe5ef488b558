import type { ZoneRecord } from '../domains/zone-records.ts'
import { TYPE_ANY, TYPES } from './constants.ts'
import { nameBytes, requestMessage } from './request.ts'
import { openSignedConnection, type RequestClock, type SignedServer } from './signed-connection.ts'
import { rcodeOf } from './tsig.ts'
import { recordBytes } from './zone.ts'

/** What must be true in the zone before an update: names that nobody uses, or a TXT record that is there. RFC 2136 §2.4 */
export interface Conditions {
  unused: readonly string[]
  present: readonly ZoneRecord[]
}

export interface ZoneChange {
  conditions: Conditions
  /** Names at which everything is removed. */
  clear: readonly string[]
  /** Records that are then added. */
  add: readonly ZoneRecord[]
}

/** A connection for one update after the other. */
export interface UpdateConnection {
  /** Makes a change at once or not at all. Resolves with false if a condition is not true. Rejects with what is wrong, for
   *  people: no answer, a refusal, or a TsigFailure; the connection is then of no use any more. RFC 2136 */
  update(zone: string, change: ZoneChange): Promise<boolean>
  close(): void
}

/** Connects over TCP. `limitMs`: for the reply to an update. */
export function connectToUpdate(server: SignedServer, clock: RequestClock, limitMs = LIMIT_MS): UpdateConnection {
  const connection = openSignedConnection(server, clock)
  return {
    update: (zone, change) =>
      connection.request(updateMessage(zone, change), limitMs, async (next) => {
        const [reply] = await next()
        if (reply === undefined) throw new Error('the reply is not signed')
        const rcode = rcodeOf(reply)
        if (CONDITION_FAILED.has(rcode)) return false
        if (rcode !== 'NOERROR') throw new Error(`the name server refuses the update: ${rcode}`)
        return true
      }),
    close: connection.close,
  }
}

/** A change of nothing: shows whether the server would make others. */
export const NO_CHANGE: ZoneChange = { conditions: { unused: [], present: [] }, clear: [], add: [] }

const CONDITION_FAILED = new Set(['YXDOMAIN', 'YXRRSET', 'NXRRSET', 'NXDOMAIN'])
const LIMIT_MS = 10_000
const CLASS_NONE = 254
const CLASS_ANY = 255
const OPCODE_UPDATE = 5 << 3

function updateMessage(zone: string, { conditions, clear, add }: ZoneChange): Buffer {
  const before = [
    ...conditions.unused.map((name) => emptyRecord(name, CLASS_NONE)),
    ...conditions.present.map((record) => fullRecord(record, 0)),
  ]
  const changes = [
    ...clear.map((name) => emptyRecord(name, CLASS_ANY)),
    ...add.map((record) => fullRecord(record, record.ttlSeconds)),
  ]
  const body = Buffer.concat([...before, ...changes])
  return requestMessage(OPCODE_UPDATE, { zone, type: TYPES.SOA }, [before.length, changes.length], body)
}

/** Any type, TTL 0 and no data. */
function emptyRecord(name: string, recordClass: number): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(TYPE_ANY)
  fixed.writeUInt16BE(recordClass, 2)
  return Buffer.concat([nameBytes(name), fixed])
}

const fullRecord = (record: ZoneRecord, ttlSeconds: number) =>
  Buffer.concat([nameBytes(record.name), recordBytes(record, ttlSeconds)])
