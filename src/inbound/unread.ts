import { readHeaderFields } from '../mail/header-fields.ts'
import { headersOf, packParsed, packRaw } from '../mail/inbound-content.ts'
import { packMime } from '../mail/mime-content.ts'
import { headOf } from './head.ts'
import type { Reading, ReadingJob } from './reading.ts'
import { forForward, honest, withTrace } from './stored.ts'
import { undecided } from './undecided.ts'

/** A mail that no thread could read → a reading all the same: raw and headers kept, every verdict undecided, nothing said of
 *  its body, forwards unsealed. Linear in the size, and looks into no part of the body: it must not fail where a thread did.
 *  It runs in the main thread, so nothing here imports mailauth or mailparser (17 MB). */
export function unread(job: ReadingJob, hostname: string, parseError: string): Reading {
  const mail = honest(job.raw, hostname)
  const { fields } = readHeaderFields(mail)
  const { verdicts, dmarcPolicy, dmarcReason, results } = undecided(mail, 'not evaluated')
  const forward = job.seals.length === 0 ? null : forForward(mail, job, hostname)
  return {
    jobId: job.jobId,
    verdicts,
    dmarcPolicy,
    dmarcReason,
    head: headOf(fields),
    raw: packRaw(withTrace(mail, job, hostname, results)),
    parsed: packParsed({ textBody: '', htmlBody: '', headers: headersOf(fields), attachments: [] }),
    parseError,
    forwards: forward === null ? [] : job.seals.map(() => packMime(forward)),
  }
}
