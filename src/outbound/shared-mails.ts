import type { Prepared, Unprepared } from './job.ts'

/** Prepared mails for further recipients of the same message. */
export interface SharedMails {
  /** The same mail if it was prepared lately; null if not, or if a part of it belongs to one recipient. */
  get(job: Unprepared): Prepared | null
  /** Keeps a prepared mail unless it is large or a part of it belongs to one recipient. */
  add(job: Unprepared, prepared: Prepared): void
}

/** Returns an empty store. Recipients of a message without tracking and unsubscribe links get the same bytes, and their
 *  deliveries are usually prepared one after the other. Two jobs are the same if all their values are. */
export function createSharedMails(): SharedMails {
  const last: { job: Unprepared; prepared: Prepared }[] = []
  return {
    get: (job) => (isOfAll(job) ? (last.find((each) => isSame(each.job, job))?.prepared ?? null) : null),
    add: (job, prepared) => {
      if (!isOfAll(job) || prepared[1].byteLength > MOST_BYTES) return
      last.unshift({ job, prepared })
      if (last.length > MOST) last.pop()
    },
  }
}

/** As many as a turn prepares, and some that other messages leave between them. */
const MOST = 8
const MOST_BYTES = 65_536

const isOfAll = ({ recipientParts: { fields, tracking, linkToken } }: Unprepared) =>
  fields === '' && tracking === null && linkToken === undefined

function isSame(a: Unprepared, b: Unprepared): boolean {
  return (
    a.signedAt === b.signedAt &&
    a.content.byteLength === b.content.byteLength &&
    a.signingKeys.length === b.signingKeys.length &&
    a.signingKeys.every((key, at) => {
      const other = b.signingKeys[at]!
      return key.domain === other.domain && key.selector === other.selector && key.privateKeyPem === other.privateKeyPem
    }) &&
    Buffer.compare(a.content, b.content) === 0
  )
}
