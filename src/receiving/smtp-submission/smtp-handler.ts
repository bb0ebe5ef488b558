import { type Mailbox, parseMailbox } from '../../mail/address.ts'
import { endOfHead } from '../../mail/header-fields.ts'
import type { ApiKey } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import { canonicalIp } from '../../net/ip.ts'
import type { Clock } from '../../os/clock.ts'
import type { IdempotencyKeys } from '../../sending/submission/idempotency.ts'
import type { Accepted, MakeRecord, SubmissionRequest } from '../../sending/submission/request.ts'
import type { Submission } from '../../sending/submission/submission.ts'
import { SCAN_LIMITS } from '../smtp-server/scan.ts'
import type { IncomingMail, SmtpHandler, SmtpSession } from '../smtp-server/session.ts'
import type { ReadAuthor } from './author-request.ts'
import { loginNeeded, mayNotSend, notAnAddress, queued, replyTo, tooFast, wrongPassword } from './replies.ts'
import { submissionHash } from './same-mail.ts'
import { IDEMPOTENCY_HEADER } from './service-headers.ts'

/** Dependencies of the submission handler. */
export interface SubmissionHandlerDeps {
  submission: Pick<Submission, 'submit'>
  /** Parses the author's headers in another thread. */
  readAuthor: ReadAuthor
  /** Shared with the API. */
  idempotencyKeys: IdempotencyKeys
  clock: Clock
  /** API key value and client address → the key; records the use as the API does. Rejects with `unauthorized` for a key
   *  that is unknown, revoked, expired or not allowed from this address, with `forbidden` for one that may not send. */
  login: (password: string, now: number, address: string) => Promise<ApiKey>
  /** Counts one request against the plan of the key, in the same windows as the API. */
  takeRate: (key: ApiKey, now: number) => RateResult
}

/** Whether the key may send another request now, and its plan's limit. */
export interface RateResult {
  allowed: boolean
  /** Per minute. */
  limit: number
  resetSeconds: number
}

/** Handler for mail that the customer's programs submit by SMTP (RFC 6409), up to the point where it meets the API's
 *  path.
 *
 *  The password is an API key; the user name is ignored. The key is checked at login, at each MAIL, which counts as a
 *  request, and again when the mail has arrived. The return path given by the client is ignored: ours identifies the
 *  delivery. 250 means what 202 means: message, content and deliveries are durable. A client that misses the 250 sends
 *  again and creates a second message, unless the mail has an X-Service-Idempotency-Key. */
export function createSubmissionHandler({
  submission,
  readAuthor,
  idempotencyKeys,
  clock,
  login,
  takeRate,
}: SubmissionHandlerDeps): SmtpHandler<Mailbox> {
  const visitors = new WeakMap<SmtpSession, Visitor>()

  return {
    onLogin: async (session, { password }) => {
      const key = await keyOf(password, session, login, clock.now())
      if (key === 'unauthorized') throw wrongPassword()
      if (key === 'forbidden') throw mayNotSend()
      visitors.set(session, { password, key })
    },

    onMailFrom: async (session) => {
      const visitor = visitors.get(session)
      const now = clock.now()
      if (visitor === undefined) throw loginNeeded()
      const key = await keyOf(visitor.password, session, login, now)
      if (typeof key === 'string') throw loginNeeded()
      visitor.key = key
      const rate = takeRate(key, now)
      if (!rate.allowed) throw tooFast(rate.limit, rate.resetSeconds)
    },

    onRecipient: async (_session, { address }) => {
      const mailbox = parseMailbox(address)
      if (mailbox === null || mailbox.name !== null) throw notAnAddress()
      return mailbox
    },

    onMail: async (mail) => {
      const visitor = visitors.get(mail.session)
      if (visitor === undefined) throw loginNeeded()
      try {
        return await take(mail, visitor)
      } catch (thrown) {
        throw replyTo(thrown)
      }
    },
  }

  async function take(mail: IncomingMail<Mailbox>, { key, password }: Visitor): Promise<string> {
    const raw = await mail.read()
    const recipients = mail.recipients.map(({ as }) => as)
    const bodyAt = Math.min(endOfHead(raw), SCAN_LIMITS.headerBytes + 1)
    const searched = raw.subarray(0, MOST_SEARCHED)
    const read = await readAuthor(raw.subarray(0, bodyAt), searched, recipients, key.organizationId)
    const request = withBody(read.request, raw.subarray(bodyAt))
    // DATA may take minutes; the key may have been revoked or expired since MAIL.
    if (typeof (await keyOf(password, mail.session, login, clock.now())) === 'string') throw loginNeeded()
    const submit = async (remember?: MakeRecord<Accepted>) =>
      queued((await submission.submit({ key, source: 'smtp' }, request, remember)).message.id)

    const { idempotencyKey } = read
    if (idempotencyKey === null) return submit()
    const { answer } = await idempotencyKeys.run(
      {
        organizationId: key.organizationId,
        mode: key.mode,
        domainId: key.permissions.includes('admin') ? null : key.domainId,
        idempotencyKey,
        header: IDEMPOTENCY_HEADER,
        requestHash: submissionHash(
          key.mode,
          recipients.map(({ address }) => address),
          raw,
        ),
        now: clock.now(),
      },
      ({ body }) => Buffer.from(body).toString(),
      (head) => submit(({ message }) => ({ ...head, status: 250, body: Buffer.from(queued(message.id)) })),
    )
    return answer
  }
}

/** A logged-in client. The key value is kept to check the key again. */
interface Visitor {
  password: string
  key: ApiKey
}

/** `unauthorized` for a key that is not valid, `forbidden` for one that may not send, or not any more. */
async function keyOf(
  password: string,
  session: SmtpSession,
  login: SubmissionHandlerDeps['login'],
  now: number,
): Promise<ApiKey | 'unauthorized' | 'forbidden'> {
  try {
    return await login(password, now, canonicalIp(session.remoteAddress) ?? '')
  } catch (thrown) {
    if (thrown instanceof Refusal && (thrown.reason === 'unauthorized' || thrown.reason === 'forbidden'))
      return thrown.reason
    throw thrown
  }
}

/** Bytes in which placeholders are searched. Ours: texts come before attachments, and none is longer. */
const MOST_SEARCHED = 2_097_152

/** Only the header section was parsed; appends the unchanged body. */
function withBody(request: SubmissionRequest, body: Uint8Array): SubmissionRequest {
  const { mime } = request
  return mime === null ? request : { ...request, mime: { ...mime, bytes: Buffer.concat([mime.bytes, body]) } }
}
