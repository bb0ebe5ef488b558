import {
  type AuthenticationResult,
  authenticationResultsField,
  ownResultRanges,
} from '../mail/authentication-results.ts'
import { rangesOf, without } from '../mail/field-ranges.ts'
import { receivedField, returnPathField } from '../mail/trace-fields.ts'
import type { ReadingJob } from './inbound-result.ts'

/** The mail as it came, without the Authentication-Results fields that pretend to be ours; the same bytes when there are
 *  none. */
export function withoutForgedResults(raw: Uint8Array, hostname: string): Uint8Array {
  return without(raw, ownResultRanges(raw, hostname))
}

/** The honest mail → what is stored: our trace fields in front. RFC 5321 §4.4, RFC 8601 §5. */
export function withTrace(
  mail: Uint8Array,
  job: ReadingJob,
  hostname: string,
  results: readonly AuthenticationResult[],
): Uint8Array<ArrayBuffer> {
  const findings = authenticationResultsField(hostname, results)
  const trace = `${returnPathField(job.envelope.returnPath)}${findings}${receivedOf(job, hostname)}`
  return Buffer.concat([Buffer.from(trace + guardOf(mail)), mail])
}

/** The honest mail → what is sent on, not yet sealed. A return path is the business of the last host (RFC 5321 §4.4). */
export function forForward(mail: Uint8Array, job: ReadingJob, hostname: string): Buffer<ArrayBuffer> {
  const own = job.forwardHeader === null ? '' : `${job.forwardHeader.replace(/[\r\n]/g, ' ')}\r\n`
  const trace = Buffer.from(`${own}${receivedOf(job, hostname)}${guardOf(mail)}`)
  return Buffer.concat([trace, without(mail, rangesOf(mail, 'return-path'))])
}

function receivedOf(job: ReadingJob, hostname: string): string {
  const id = `${job.receivedAt.toString(36)}.${job.jobId.toString(36)}`
  return receivedField(hostname, { ...job.envelope, receivedAt: job.receivedAt, id })
}

/** A mail may begin with a continuation or a line that is no field; it would become part of the field in front of it, which
 *  is ours. So it gets one of its own. */
function guardOf(mail: Uint8Array): string {
  const start = Buffer.from(mail.buffer, mail.byteOffset, Math.min(mail.byteLength, 1000)).toString('latin1')
  return /^(?:[!-9;-~]+[ \t]*:|\r?\n|$)/.test(start) ? '' : 'X-Unnamed:\r\n'
}
