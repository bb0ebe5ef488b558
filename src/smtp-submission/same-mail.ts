import { createHash } from 'node:crypto'
import { withoutFields } from '../mail/field-ranges.ts'
import type { Mode } from '../model/message.ts'

/** What makes two submissions the same one for an idempotency key: mode, envelope recipients in any order, and the mail as
 *  it was handed in but for what a mail library invents anew each time it is asked to send the same: Date, Message-ID
 *  and boundaries. With those an author who tries again would always have written another mail. → SHA-256. */
export function submissionHash(mode: Mode, recipients: readonly string[], raw: Uint8Array): Buffer {
  const head = JSON.stringify(['smtp', mode, [...recipients].sort()])
  const headHash = createHash('sha256').update(head).digest()
  return createHash('sha256').update(headHash).update(withoutInvention(raw), 'latin1').digest()
}

const BOUNDARY = /\bboundary="?([^"\s;]{8,70})/gi // RFC 2046 §5.1.1: at most 70; a shorter one is nobody's random
const MAX_BOUNDARIES = 20 // mail libraries nest four; each costs a walk through the mail

/** The mail as latin1, each boundary with its number in its place. */
function withoutInvention(raw: Uint8Array): string {
  const bytes = withoutFields(raw, ({ key }) => key === 'date' || key === 'message-id')
  let text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const boundaries = new Set<string>()
  for (const [, boundary] of text.matchAll(BOUNDARY)) {
    boundaries.add(boundary!)
    if (boundaries.size === MAX_BOUNDARIES) break
  }
  for (const [number, boundary] of [...boundaries].entries()) text = text.replaceAll(boundary, `\0${number}\0`)
  return text
}
