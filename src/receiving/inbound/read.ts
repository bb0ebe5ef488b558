import { authenticationResultsPayload } from '../../mail/authentication-results.ts'
import { readHeaderFields } from '../../mail/header-fields.ts'
import { type ParsedMail, packParsed, packRaw } from '../../mail/inbound-content.ts'
import { foldLongLines } from '../../mail/long-lines.ts'
import { packMime } from '../../mail/mime-content.ts'
import { parseMail } from '../../mail/parse.ts'
import { isLikeReplyAddress } from '../../mail/reply-address.ts'
import { type Reply, replyOf } from '../../mail/reply-html.ts'
import { type InboundAttachments, LISTED_ATTACHMENTS, LISTED_CHARACTERS } from '../../model/inbound-message.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import type { Clock } from '../../os/clock.ts'
import { type Authentication, authenticate } from './authenticate.ts'
import { headOf } from './head.ts'
import type { InboundResult, MailHead, ReaderSettings, ReadingJob } from './inbound-result.ts'
import { ownLinksIn } from './own-links.ts'
import { arcFieldsOf, type SignSeal, unsealedMail } from './seal.ts'
import { forForward, withoutForgedResults, withTrace } from './stored-mail.ts'
import { undecidedResults } from './undecided-results.ts'

/** Dependencies of reading one mail. */
export interface ReaderContext {
  settings: ReaderSettings
  resolver: Resolver
  clock: Clock
  /** Signs with the key of seal number `seal` in the job. */
  sign: (seal: number, text: Uint8Array) => ReturnType<SignSeal>
  /** Called before each uninterrupted stretch of work. */
  onWork: () => void
  /** Reports an internal error; processing continues. */
  onBug: (error: unknown) => void
}

/** Reads one mail: authenticates it, parses it, prepends trace fields, seals forwards and packs the result. No mail is
 *  lost: a failed authentication gives undecided verdicts, and an unreadable mail is parsed as far as possible. Rejects
 *  only when memory runs out. */
export async function readMail(job: ReadingJob, context: ReaderContext): Promise<InboundResult> {
  const { hostname } = context.settings
  context.onWork()
  const mail = withoutForgedResults(job.raw, hostname)
  const head = headOf(readHeaderFields(mail).fields)
  // Removes forged results of ours. DKIM checks the original mail, because the sender may have signed those fields.
  const { verdicts, dmarcPolicy, dmarcReason, results } = await authenticated(job, head.from, context)
  context.onWork()
  tidy(mail)
  const { parsed, attachments, parseError, ownLinks } = await parsedInTime(mail, head, job, context)
  tidy(mail)
  return {
    verdicts,
    dmarcPolicy,
    dmarcReason,
    head,
    raw: packRaw(withTrace(mail, job, hostname, results)),
    parsed,
    attachments,
    parseError,
    ownLinks,
    forwards: await forwarded(mail, job, context, { verdicts, results }),
  }
}

/** No known input takes this long; readers.ts would end the thread shortly after. */
const PARSE_MS = 15_000

/** Each step leaves garbage of several times the mail's size, which the collector sees too late: two such mails took
 *  1.9 GB without this. It costs 10 ms of the 500 ms for such a mail. */
function tidy({ byteLength }: Uint8Array): void {
  if (byteLength > LARGE_BYTES) Bun.gc(true)
}

/** Mail from this size on is collected at once. */
export const LARGE_BYTES = 4_000_000

/** SPF, DKIM, DMARC and ARC of a mail; undecided after a bug. */
export async function authenticated(
  job: Pick<ReadingJob, 'raw' | 'envelope'>,
  from: string,
  context: ReaderContext,
): Promise<Authentication> {
  const { remoteAddress, helo, returnPath } = job.envelope
  const { hostname, authenticationMs } = context.settings
  try {
    return await authenticate(
      { raw: job.raw, remoteAddress, helo, returnPath, from },
      { resolver: context.resolver, clock: context.clock, hostname, limitMs: authenticationMs },
    )
  } catch (error) {
    context.onBug(error)
    return undecidedResults(job.raw, 'not evaluated')
  }
}

async function parsedInTime(mail: Uint8Array, head: MailHead, job: ReadingJob, { clock, onWork }: ReaderContext) {
  const done = new AbortController()
  try {
    const { parsed, parseError, mail: parts } = await parseMail(mail, clock.sleep(PARSE_MS, done.signal))
    const ownLinks = ownLinksIn(mail, [parsed.textBody, parsed.htmlBody], parts)
    onWork()
    const reply = isAnswer(head, job.envelope) ? replyOf(head.subject, parsed.textBody, parsed.htmlBody) : NO_REPLY
    const whole = { ...parsed, replyText: reply.text, replyHtml: reply.html }
    return { parsed: packParsed(whole), attachments: listedOf(parsed), parseError, ownLinks }
  } finally {
    done.abort()
  }
}

const NO_REPLY: Reply = { text: null, html: null }

/** A person's answer, for one of the recipients at least: inbound-payload.ts decides for each. */
function isAnswer(head: MailHead, { returnPath, recipients }: ReadingJob['envelope']): boolean {
  if (head.autoSubmitted || returnPath === '') return false
  return head.answers.length > 0 || recipients.some(isLikeReplyAddress)
}

function listedOf({ attachments }: ParsedMail): InboundAttachments {
  const cut = (text: string) => text.slice(0, LISTED_CHARACTERS).toWellFormed()
  const first = attachments.slice(0, LISTED_ATTACHMENTS).map(({ filename, contentType, ...each }) => ({
    ...each,
    filename: cut(filename),
    contentType: cut(contentType),
  }))
  return { first, count: attachments.length }
}

async function forwarded(
  mail: Uint8Array,
  job: ReadingJob,
  { settings: { hostname }, sign, onWork }: ReaderContext,
  { verdicts, results }: Pick<Authentication, 'verdicts' | 'results'>,
): Promise<Uint8Array<ArrayBuffer>[]> {
  if (job.seals.length === 0) return []
  const forward = forForward(mail, job, hostname)
  // Outbound folds the lines (finished-mail.ts), so that the attempt can say it. The seal is for what goes out.
  const { bytes } = foldLongLines(forward)
  const unsealed = await unsealedMail(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), verdicts.arc)
  const found = authenticationResultsPayload(hostname, results)
  const forwards: Uint8Array<ArrayBuffer>[] = []
  for (const [at, seal] of job.seals.entries()) {
    const signWith: SignSeal = async (text) => {
      const signature = await sign(at, text)
      onWork()
      return signature
    }
    const fields =
      unsealed === null ? Buffer.alloc(0) : await arcFieldsOf(unsealed, found, seal, job.receivedAt, signWith)
    forwards.push(packMime(Buffer.concat([fields, forward])))
  }
  return forwards
}
