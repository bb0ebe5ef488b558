import { hash } from 'node:crypto'
import { type Mailbox, parseMailbox } from '../../mail/address.ts'
import type { Domain } from '../../model/domain.ts'
import { INSTALLATION } from '../../model/organization.ts'
import { Refusal } from '../../model/refusal.ts'
import { suppressionKey } from '../../model/suppression.ts'
import { createLocalRates } from '../../net/limiters/local-rates.ts'
import type { Random } from '../../os/random.ts'
import type { RateRule, Store } from '../../storage/store.ts'
import { isReceivedHere } from './received-here.ts'
import { PLAIN } from './request.ts'
import type { SendingRules } from './sending-rules.ts'
import type { Submission } from './submission.ts'
import { createUserLinks, type UserLink } from './user-links.ts'
import { type UserMailText, writtenUserMail } from './user-mail-text.ts'

/** Mail of the installation to people who sign in: invitations, password links, notices. It takes the way of all mail, but
 *  belongs to INSTALLATION, which no key and no user can select: members of the organization that owns the sender's domain
 *  see neither it nor its events. user-links.ts keeps its token out of the stored content.
 *
 *  Resolved with null: the mail is durable in the queue. */
export interface UserMail {
  /** Why no mail to users goes now, for any recipient; null if it goes. */
  obstacle(): MailObstacle | null
  /** Token for a link, and what `send` needs to put it into a mail. The caller stores its hash before it sends. */
  mintLink(): Promise<UserLink>
  /** Queues a mail. Resolves with null, or with the reason why it was not queued: somebody then has to pass on the link by
   *  hand. Rejects with the error of the store. */
  send(mail: UserMailing, now: number): Promise<MailObstacle | null>
  /** Ends the suppression of an address whose mail bounced before: an operator wants to try again. */
  unsuppress(email: string, now: number): Promise<void>
}

/** `received_here`: this server receives mail for the address, so that members, keys, routes and webhooks of the
 *  organization that owns its domain would read the link. `not_configured`: `users.mail_from` is empty.
 *  `single_sign_on_only`: the links would be refused. `suppressed`: earlier mail to the address bounced, or was reported
 *  as spam. `limit_reached`: too many invitations. */
export type MailObstacle = (typeof MAIL_OBSTACLES)[number]
export const MAIL_OBSTACLES = [
  'not_configured',
  'single_sign_on_only',
  'domain_not_verified',
  'sending_paused',
  'no_address',
  'received_here',
  'suppressed',
  'limit_reached',
] as const

export interface UserMailing {
  /** Null: the user has set no address. */
  to: string | null
  text: UserMailText
  /** Absent: the mail has no link. */
  link?: UserLink
  /** No attempt starts after that, ms UTC. */
  expiresAt: number
  /** Organization whose members write to an address that they choose: its mail is limited. */
  invitedBy?: { organizationId: string }
}

export interface UserMailDeps {
  store: Pick<Store, 'snapshot' | 'suppressions' | 'rates' | 'secret'>
  submission: Pick<Submission, 'submit'>
  rules: SendingRules
  random: Random
  settings: { from: string; hostname: string; requireVerifiedDomain: boolean; singleSignOnOnly: boolean }
  publicUrl: () => string
}

export function createUserMail(deps: UserMailDeps): UserMail {
  const { store, submission, rules, random, settings } = deps
  const sender = parseMailbox(settings.from)
  const rates = store.rates ?? createLocalRates()

  /** The sender with its domain, or why mail does not go. `hasLink`: the mail is about a sign-in with a password. */
  const ready = (hasLink = true): { sender: Mailbox; domain: Domain } | MailObstacle => {
    if (sender === null) return 'not_configured'
    if (hasLink && settings.singleSignOnOnly) return 'single_sign_on_only'
    const domain = store.snapshot.domainByName(sender.domain)
    if (domain === null) return 'domain_not_verified'
    try {
      rules.requireMaySend('live', domain)
    } catch (thrown) {
      return obstacleOf(thrown)
    }
    return { sender, domain }
  }

  const isWithinLimits = async (organizationId: string, folded: string, now: number) =>
    (await rates.take(invitationRules(organizationId, folded), now)) === 0

  return {
    obstacle: () => {
      const found = ready()
      return typeof found === 'string' ? found : null
    },
    mintLink: async () => createUserLinks(await userLinkSecret(store, random), random).mint(),
    send: async ({ to, text, link, expiresAt, invitedBy }, now) => {
      const found = ready(text.kind !== 'alert')
      if (typeof found === 'string') return found
      const { domain } = found
      const recipient = to === null ? null : parseMailbox(to)
      if (recipient === null) return 'no_address'
      if (link !== undefined && isReceivedHere(recipient, store.snapshot, settings)) return 'received_here'
      const folded = suppressionKey(recipient.address)
      const key = { id: AUTHOR, organizationId: INSTALLATION, domainId: domain.id, mode: 'live' as const }
      const suppressed = await store.suppressions.among({ ...key, stream: PLAIN.stream }, [folded])
      if (suppressed.size > 0) return 'suppressed'
      if (invitedBy && !(await isWithinLimits(invitedBy.organizationId, folded, now))) return 'limit_reached'
      const request = {
        ...PLAIN,
        ...writtenUserMail(text, deps.publicUrl()),
        headers: NO_REPLIES,
        tags: ['user-mail'],
        from: { asSent: `${SENDER_NAME} <${found.sender.address}>`, mailbox: { ...found.sender, name: SENDER_NAME } },
        to: { asSent: recipient.address, mailboxes: [recipient] },
        metadata: link?.metadata ?? {},
        expiresInSeconds: Math.max(1, Math.ceil((expiresAt - now) / 1000)),
      }
      try {
        await submission.submit({ key, source: 'api' }, request)
        return null
      } catch (thrown) {
        return obstacleOf(thrown)
      }
    },
    unsuppress: async (email, now) => {
      const found = await store.suppressions.find(INSTALLATION, suppressionKey(email))
      if (found.length > 0)
        await store.suppressions.remove(
          found.map(({ id }) => id),
          now,
        )
    },
  }
}

/** The store's secret for createUserLinks. */
export const userLinkSecret = (store: Pick<Store, 'secret'>, random: Random) =>
  store.secret('user-links', random.bytes(32))

/** Refusal of live mail → obstacle. Throws everything else. */
function obstacleOf(thrown: unknown): MailObstacle {
  if (thrown instanceof Refusal && thrown.reason === 'domain_not_verified') return 'domain_not_verified'
  if (thrown instanceof Refusal && thrown.reason === 'invalid_state') return 'sending_paused'
  throw thrown
}

/** Three invitations a day for each address, over all organizations, and fifty for each organization: our choice, enough
 *  for a whole department, and too few to annoy a stranger. The address is hashed, because rates outlive the records. */
function invitationRules(organizationId: string, folded: string): RateRule[] {
  return [
    { name: `invitations of ${organizationId}`, everyMs: DAY_MS / 50, burst: 50 },
    { name: `invitations to ${hash('sha256', folded, 'hex').slice(0, 32)}`, everyMs: DAY_MS / 3, burst: 3 },
  ]
}

/** Key ID of mail to users. It belongs to no API key, and callers cannot name it. */
const AUTHOR = 'user-mail'
const SENDER_NAME = 'Postrider'
const DAY_MS = 86_400_000

/** Automatic replies could quote the link: RFC 3834 §5, and the header that Exchange reads. */
const NO_REPLIES: [string, string][] = [
  ['Auto-Submitted', 'auto-generated'],
  ['X-Auto-Response-Suppress', 'All'],
]
