import type { Composed } from './finished-mail.ts'
import type { Prepared, Unprepared } from './job.ts'

/** A mail that recipients of a message may share. Each step runs once; if it throws, it runs again for the next one. */
export interface SharedMail {
  composed(compose: () => Composed): Composed
  signed(sign: () => Prepared): Prepared
}

/** Returns a function that makes the mail of a job. Recipients of a message without tracking and unsubscribe links get
 *  the same bytes, and their deliveries are usually prepared one after the other. They get the same SharedMail if all
 *  values of their jobs are equal and the mail is small; any other job gets one of its own. */
export function createSharedMails(): (job: Unprepared) => SharedMail {
  const last: { job: Unprepared; mail: SharedMail }[] = []
  return (job) => {
    if (!isOfAll(job)) return createMail()
    const known = last.find((each) => isSame(each.job, job))
    if (known !== undefined) return known.mail
    const forget = () => {
      const at = last.indexOf(entry)
      if (at >= 0) last.splice(at, 1)
    }
    const entry = { job, mail: createMail(forget) }
    last.unshift(entry)
    if (last.length > MOST) last.pop()
    return entry.mail
  }
}

/** As many as a turn prepares, and some that other messages leave between them. */
const MOST = 8
const MOST_BYTES = 65_536

function createMail(onLarge = () => {}): SharedMail {
  let composed: Composed | null = null
  let signed: Prepared | null = null
  return {
    composed: (compose) => {
      composed ??= compose()
      if (composed.mail.byteLength > MOST_BYTES) onLarge()
      return composed
    },
    signed: (sign) => {
      signed ??= sign()
      return signed
    },
  }
}

const isOfAll = ({ recipientParts: { fields, tracking, secrets } }: Unprepared) =>
  fields === '' && tracking === null && secrets === undefined

function isSame(a: Unprepared, b: Unprepared): boolean {
  return (
    a.signedAt === b.signedAt &&
    a.isSevenBit === b.isSevenBit &&
    a.content.byteLength === b.content.byteLength &&
    a.signingKeys.length === b.signingKeys.length &&
    a.signingKeys.every((key, at) => {
      const other = b.signingKeys[at]!
      return key.domain === other.domain && key.selector === other.selector && key.privateKeyPem === other.privateKeyPem
    }) &&
    Buffer.compare(a.content, b.content) === 0
  )
}
