import { formatMailbox, type Mailbox, parseMailbox } from '../mail/address.ts'
import { addressesOf } from '../mail/header-fields.ts'
import { mailboxesOf } from '../mail/mailboxes.ts'
import { type ApiKey, allows } from '../model/api-key.ts'
import { Refusal } from '../model/refusal.ts'
import { suppressionKey } from '../model/suppression.ts'
import type { Clock } from '../platform/clock.ts'
import type { IncomingMail, SmtpDoor, SmtpSession } from '../smtp/session.ts'
import type { Accepted, MakeRecord, Submission } from '../submission/accept.ts'
import type { Once } from '../submission/once.ts'
import type { Addresses, SubmissionRequest } from '../submission/request.ts'
import { type AuthorMail, readAuthorMail } from './author-mail.ts'
import { loginNeeded, mayNotSend, notAnAddress, queued, replyTo, tooFast, wrongPassword } from './replies.ts'
import { submissionHash } from './same-mail.ts'
import { IDEMPOTENCY_HEADER } from './service-headers.ts'

/** What the door needs of the house behind it. */
export interface RelayDeps {
  submission: Pick<Submission, 'submit'>
  /** The one of the whole house. */
  once: Once
  clock: Clock
  /** The value of an API key → the key, its use recorded as the API records it. Throws `unauthorized` for one that is
   *  unknown, revoked or expired. */
  login: (password: string, now: number) => ApiKey
  /** Counts one request of the key against its plan; the same windows as the API's. */
  takeRate: (key: ApiKey, now: number) => RateTaken
}

/** Whether the key may ask once more now, and what its plan says. */
export interface RateTaken {
  allowed: boolean
  /** Per minute. */
  limit: number
  resetSeconds: number
}

/** Mail from the customer's own programs: THE FLOW of submission by SMTP (RFC 6409), up to where it meets the API's.
 *
 *  The password is an API key, the user name is anybody's. A key is looked at again at each MAIL, which is also what
 *  counts as a request; the return path that is given there says nothing, ours has the delivery in it. 250 means what
 *  202 means: message, content and deliveries are durable. An author who misses the 250 sends again and makes a second
 *  message, unless the mail has an X-Service-Idempotency-Key. */
export function createRelayDoor({ submission, once, clock, login, takeRate }: RelayDeps): SmtpDoor<Mailbox> {
  const visitors = new WeakMap<SmtpSession, Visitor>()

  return {
    onLogin: async (session, { password }) => {
      const key = keyOf(password, login, clock.now())
      if (key === null) throw wrongPassword()
      if (!allows(key.permissions, 'send')) throw mayNotSend()
      visitors.set(session, { password, key })
    },

    onMailFrom: async (session) => {
      const visitor = visitors.get(session)
      const now = clock.now()
      const key = visitor === undefined ? null : keyOf(visitor.password, login, now)
      if (key === null || !allows(key.permissions, 'send')) throw loginNeeded()
      visitor!.key = key
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
        return await take(mail, visitor.key)
      } catch (thrown) {
        throw replyTo(thrown)
      }
    },
  }

  async function take(mail: IncomingMail<Mailbox>, key: ApiKey): Promise<string> {
    const raw = await mail.read()
    const recipients = mail.recipients.map(({ as }) => as)
    const written = readAuthorMail(raw)
    const request = requestOf(written, recipients)
    const submit = async (remember?: MakeRecord<Accepted>) =>
      queued((await submission.submit({ key, source: 'smtp' }, request, remember)).message.id)

    const { idempotencyKey } = written
    if (idempotencyKey === null) return submit()
    const { answer } = await once.run(
      {
        organizationId: key.organizationId,
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

/** Who stands in the door: the value is kept so that the key can be looked at again. */
interface Visitor {
  password: string
  key: ApiKey
}

function keyOf(password: string, login: RelayDeps['login'], now: number): ApiKey | null {
  try {
    return login(password, now)
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.reason === 'unauthorized') return null
    throw thrown
  }
}

/** The author's mail and whom it goes to → what submission takes. Recipients who stand in no header are blind copies. */
function requestOf(written: AuthorMail, recipients: readonly Mailbox[]): SubmissionRequest {
  const inTo = addressedIn(written.to)
  const inCc = addressedIn(written.cc)
  const to = recipients.filter(({ address }) => inTo(address))
  const cc = recipients.filter(({ address }) => !inTo(address) && inCc(address))
  const bcc = recipients.filter(({ address }) => !inTo(address) && !inCc(address))
  return {
    from: { asSent: formatMailbox(written.from), mailbox: written.from },
    to: asWritten(to, written.to),
    cc: cc.length === 0 ? null : asWritten(cc, written.cc),
    bcc: bcc.length === 0 ? null : asWritten(bcc, ''),
    replyTo: listed(mailboxesOf(written.replyTo)),
    subject: written.subject,
    html: null,
    text: null,
    headers: [],
    attachments: [],
    metadata: written.metadata,
    tags: written.tags,
    scheduledAt: null,
    expiresInSeconds: null,
    requireTls: false,
    unsubscribe: written.unsubscribe,
    // His mail goes out as he made it, whatever the domain's setting.
    trackOpens: false,
    trackClicks: false,
    template: null,
    mime: written.mime,
  }
}

function addressedIn(header: string): (address: string) => boolean {
  const named = new Set(addressesOf(header).map(suppressionKey))
  return (address) => named.has(suppressionKey(address))
}

/** Recipients, with the names that the header gives them. */
function asWritten(recipients: readonly Mailbox[], header: string): Addresses {
  const names = new Map(mailboxesOf(header).map(({ address, name }) => [suppressionKey(address), name]))
  const mailboxes = recipients.map((each) => ({ ...each, name: names.get(suppressionKey(each.address)) ?? null }))
  return { asSent: mailboxes.map(formatMailbox), mailboxes }
}

function listed(mailboxes: Mailbox[]): Addresses | null {
  return mailboxes.length === 0 ? null : { asSent: mailboxes.map(formatMailbox), mailboxes }
}
