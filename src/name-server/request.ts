import { CLASS_IN, HEADER_BYTES } from './constants.ts'
import { nameKey } from './zone.ts'

/** A request of one question → its message without ID. `records`: number of records in the second and third section, which
 *  stand in `body`. RFC 1035 §4.1, RFC 2136 §2.2 */
export function requestMessage(
  flags: number,
  { zone, type }: { zone: string; type: number },
  records: readonly [number, number] = [0, 0],
  body: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header[2] = flags
  for (const [n, count] of [1, ...records].entries()) header.writeUInt16BE(count, 4 + 2 * n)
  const fixed = Buffer.alloc(4)
  fixed.writeUInt16BE(type)
  fixed.writeUInt16BE(CLASS_IN, 2)
  return Buffer.concat([header, nameBytes(zone), fixed, body])
}

/** Name as text → as in a packet. Throws for anything that is no DNS name. */
export const nameBytes = (name: string) => Buffer.from(nameKey(name), 'latin1')
