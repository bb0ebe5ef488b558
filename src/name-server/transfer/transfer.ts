import { TYPES } from '../constants.ts'
import { labelOf, MARK, type PresentLabel, printOfRecord } from '../present-zone.ts'
import { requestMessage } from '../request.ts'
import { openSignedConnection, type RequestClock, type SignedServer } from '../signed-connection.ts'
import { rcodeOf } from '../tsig.ts'
import { readAnswers, txtOf, type WireRecord } from './records.ts'

/** What a transfer may cost. A zone of 30,000 domains has some 400,000 records in 35 MB. */
export interface TransferLimits {
  records: number
  bytes: number
  /** For the whole transfer. */
  ms: number
  /** Other names below a label are cleared in later turns. */
  namesPerLabel: number
}

export const TRANSFER_LIMITS: TransferLimits = { records: 500_000, bytes: 64_000_000, ms: 60_000, namesPerLabel: 200 }

/** Reads a zone by a signed transfer and keeps what is below labels with our mark (RFC 5936). Rejects with what is wrong, for
 *  people. `isTrial`: only the first message, to see whether the server allows it; resolves with []. */
export async function transferZone(
  server: SignedServer,
  zone: string,
  {
    clock,
    limits = TRANSFER_LIMITS,
    isTrial = false,
    onMessage,
  }: { clock: RequestClock; limits?: TransferLimits; isTrial?: boolean; onMessage?: () => void },
): Promise<PresentLabel[]> {
  const connection = openSignedConnection(server, clock)
  const labels = new Map<string, Below>()
  let ends = 0
  let records = 0
  let sizeBytes = 0
  const take = (record: WireRecord) => {
    if (++records > limits.records) throw tooLarge()
    if (record.type === TYPES.SOA) ends++
    else add(labels, record, zone, limits.namesPerLabel)
  }
  try {
    await connection.request(requestMessage(0, { zone, type: TYPE_AXFR }), limits.ms, async (next) => {
      while (ends < 2) {
        for (const message of await next()) {
          onMessage?.()
          sizeBytes += message.length
          if (sizeBytes > limits.bytes) throw tooLarge()
          const rcode = rcodeOf(message)
          if (rcode !== 'NOERROR') throw new Error(`the name server refuses the transfer of the zone: ${rcode}`)
          const before = records
          readAnswers(message, take)
          if (records === before || ends === 0) throw new Error('the transfer of the zone ended early')
          if (isTrial) return
        }
      }
    })
  } finally {
    connection.close()
  }
  if (isTrial) return []
  return [...labels].flatMap(([label, { mark, names, print }]) =>
    mark === null ? [] : [{ label, mark, names: [...names], print }],
  )
}

interface Below {
  mark: string | null
  names: Set<string>
  print: bigint
}

function add(labels: Map<string, Below>, record: WireRecord, zone: string, mostNames: number): void {
  const label = labelOf(record.name, zone)
  if (label === null || record.bytes.length === 0) return
  const below = labels.get(label) ?? { mark: null, names: new Set(), print: 0n }
  labels.set(label, below)
  if (record.name !== `${label}.${zone}`) {
    if (below.names.size < mostNames && isWritable(record.name)) below.names.add(record.name)
    below.print += printOfRecord(record.owner, record.bytes)
  } else if (record.type === TYPES.TXT && below.mark === null) {
    const text = txtOf(record)
    if (text.startsWith(MARK)) below.mark = text
  }
}

/** Whether an update can name it. Others stay: this program did not make them. */
const isWritable = (name: string) => /^[!-~]+$/.test(name) && !name.startsWith('.') && !name.includes('..')

const tooLarge = () => new Error('the zone is too large: give this server a zone of its own')

const TYPE_AXFR = 252
