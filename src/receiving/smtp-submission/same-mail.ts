import { createHash } from 'node:crypto'
import { withoutFields } from '../../mail/field-ranges.ts'
import type { Mode } from '../../model/message.ts'

/** SHA-256 of what identifies a submission for an idempotency key: mode, envelope recipients in any order, and the
 *  mail. It ignores values that mail libraries generate for each attempt: Date, Message-ID and boundaries. Otherwise no
 *  retry would match. */
export function submissionHash(mode: Mode, recipients: readonly string[], raw: Uint8Array): Buffer {
  const head = JSON.stringify(['smtp', mode, [...recipients].sort()])
  const headHash = createHash('sha256').update(head).digest()
  return createHash('sha256').update(headHash).update(withoutInvention(raw), 'latin1').digest()
}

const BOUNDARY = /\bboundary="?([^"\s;]{8,70})/gi // RFC 2046 §5.1.1: at most 70; shorter ones are not random
const MAX_BOUNDARIES = 20 // mail libraries nest four; each costs one pass through the mail

/** The mail as latin1, with each boundary replaced by its number. */
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
