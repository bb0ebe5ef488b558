import { readHeaderFields } from '../../mail/header-fields.ts'
import { headersOf, packParsed, packRawBeside } from '../../mail/inbound-content.ts'
import { packMimeBeside } from '../../mail/mime-content.ts'
import { headOf } from './head.ts'
import type { InboundResult, ReadingJob } from './inbound-result.ts'
import { ownLinksIn } from './own-links.ts'
import { forForward, withoutForgedResults, withTrace } from './stored-mail.ts'
import { undecidedResults } from './undecided-results.ts'

/** The result for a mail that no reader could process: raw mail and headers kept, every verdict undecided, no body,
 *  forwards unsealed. Runs on the main thread; therefore it does not import mailauth, does not read the body, shows
 *  only the start of a long header, and packs off the thread. */
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
    attachments: { first: [], count: 0 },
    parseError,
    ownLinks: ownLinksIn(beginningOf(mail), [], null),
    forwards: forward === null ? [] : job.seals.map(() => forward),
  }
}

/** Cuts at a line end, so that no field becomes two lines of which the second looks like another field. */
function beginningOf(mail: Uint8Array): Uint8Array {
  if (mail.byteLength <= SHOWN_BYTES) return mail
  const end = mail.subarray(0, SHOWN_BYTES).lastIndexOf(LF)
  return mail.subarray(0, end < 0 ? SHOWN_BYTES : end + 1)
}

/** Ten times the header of most mails. */
const SHOWN_BYTES = 32_768
const LF = 10
