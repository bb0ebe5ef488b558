import { base32 } from '../../../src/os/ids.ts'
import { DAY_MS, DAYS, type Extent, noise } from './dataset.ts'

/** An id as it is minted, with its random part from a number. */
export function idAt(prefix: string, at: number, n: number): string {
  const bytes = Buffer.alloc(10)
  bytes.writeUInt32BE(noise(n), 0)
  bytes.writeUInt32BE(n >>> 0, 4)
  bytes.writeUInt16BE(noise(n + 1) & 0xffff, 8)
  return `${prefix}_${time32(at)}${base32(bytes)}`
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
function time32(at: number): string {
  let text = ''
  for (let rest = at, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text
  return text
}

/** When message `n` was accepted: past ones over the month, queued ones during the last hours. */
export function acceptedAt(n: number, { past, queued }: Extent, now: number): number {
  const begin = now - DAYS * DAY_MS
  const turn = now - DAY_MS / 4
  if (n < past) return Math.floor(begin + (n / past) * (turn - begin))
  return Math.floor(turn + ((n - past) / queued) * (now - turn))
}
