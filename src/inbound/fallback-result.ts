import { readHeaderFields } from '../mail/header-fields.ts'
import { headersOf, packParsed, packRawBeside } from '../mail/inbound-content.ts'
import { packMimeBeside } from '../mail/mime-content.ts'
import { headOf } from './head.ts'
import type { InboundResult, ReadingJob } from './inbound-result.ts'
import { forForward, withoutForgedResults, withTrace } from './stored-mail.ts'
import { undecidedResults } from './undecided-results.ts'

/** A mail that no reader could read → a reading all the same: raw and headers kept, every verdict undecided, nothing said of
 *  its body, forwards unsealed. It runs in the main thread, so nothing here imports mailauth, nothing looks into
 *  the body, of a long header only the beginning is shown, and the packing is done beside the thread. */
export async function fallbackResult(job: ReadingJob, hostname: string, parseError: string): Promise<InboundResult> {
  const mail = withoutForgedResults(job.raw, hostname)
  const { fields } = readHeaderFields(beginningOf(mail))
  const { verdicts, dmarcPolicy, dmarcReason, results } = undecidedResults(mail, 'not evaluated')
  const forward = job.seals.length === 0 ? null : await packMimeBeside(forForward(mail, job, hostname))
  return {
    verdicts,
    dmarcPolicy,
    dmarcReason,
    head: headOf(fields),
    raw: await packRawBeside(withTrace(mail, job, hostname, results)),
    parsed: packParsed({ textBody: '', htmlBody: '', headers: headersOf(fields), attachments: [] }),
    parseError,
    forwards: forward === null ? [] : job.seals.map(() => forward),
  }
}

/** Up to a line end, so that no field is cut in two lines of which the second looks like another. */
function beginningOf(mail: Uint8Array): Uint8Array {
  if (mail.byteLength <= SHOWN_BYTES) return mail
  const end = mail.subarray(0, SHOWN_BYTES).lastIndexOf(LF)
  return mail.subarray(0, end < 0 ? SHOWN_BYTES : end + 1)
}

/** Of a header: ten times that of most mails. */
const SHOWN_BYTES = 32_768
const LF = 10
