import {
  type AuthenticationResult,
  authenticationResultsField,
  ownResultRanges,
} from '../../mail/authentication-results.ts'
import { rangesOf, without } from '../../mail/field-ranges.ts'
import { receivedField, returnPathField } from '../../mail/trace-fields.ts'
import type { ReadingJob } from './inbound-result.ts'

/** The mail without Authentication-Results fields that claim to be ours; the same bytes if there are none. */
export function withoutForgedResults(raw: Uint8Array, hostname: string): Uint8Array {
  return without(raw, ownResultRanges(raw, hostname))
}

/** Mail without forged results → the stored mail: our trace fields first. RFC 5321 §4.4, RFC 8601 §5. */
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

/** Mail without forged results → the mail to forward, not yet sealed. Only the final host adds a Return-Path (RFC 5321
 *  §4.4). */
export function forForward(mail: Uint8Array, job: ReadingJob, hostname: string): Buffer<ArrayBuffer> {
  const own = job.forwardHeader === null ? '' : `${job.forwardHeader.replace(/[\r\n]/g, ' ')}\r\n`
  const trace = Buffer.from(`${own}${receivedOf(job, hostname)}${guardOf(mail)}`)
  return Buffer.concat([trace, without(mail, rangesOf(mail, 'return-path'))])
}

function receivedOf(job: ReadingJob, hostname: string): string {
  const id = `${job.receivedAt.toString(36)}.${job.jobId.toString(36)}`
  return receivedField(hostname, { ...job.envelope, receivedAt: job.receivedAt, id })
}

/** A mail may start with a continuation line or a line that is not a field. It would extend our field before it, so we
 *  insert a field of its own. */
function guardOf(mail: Uint8Array): string {
  const start = Buffer.from(mail.buffer, mail.byteOffset, Math.min(mail.byteLength, 1000)).toString('latin1')
  return /^(?:[!-9;-~]+[ \t]*:|\r?\n|$)/.test(start) ? '' : 'X-Unnamed:\r\n'
}
