import { parseMailbox } from '../../mail/address.ts'
import type { ForwardLinks } from '../../mail/forward-link.ts'
import { type Domain, isOwned } from '../../model/domain.ts'
import type { AskResult, ForwardTargetStatus } from '../../model/forward-target.ts'
import type { NotForwarded } from '../../model/inbound-message.ts'
import type { InboundRoute } from '../../model/inbound-route.ts'
import { TRANSACTIONAL } from '../../model/message.ts'
import { INSTALLATION } from '../../model/organization.ts'
import { Refusal } from '../../model/refusal.ts'
import { suppressionKey } from '../../model/suppression.ts'
import type { Store } from '../../storage/store.ts'
import { CONFIRM_LINK, forwardMetadata, STOP_LINK } from './forward-mail.ts'
import { isReceivedHere } from './received-here.ts'
import { PLAIN } from './request.ts'
import type { SendingRules } from './sending-rules.ts'
import { assignedPool, NO_SENDING_CONFIG, type SendingConfig } from './streams.ts'
import type { Submission } from './submission.ts'
import { quotedName } from './user-mail-text.ts'

/** Forward routes send mail from third parties in the organization's name to addresses that a user entered. A target
 *  outside the organization's domains must therefore confirm by a link in a mail from the route's domain. The mail
 *  belongs to INSTALLATION, so that the organization cannot read the link and confirm for the target. A target for which
 *  this server receives mail gets no link, because other organizations could read it: the operator passes it on. A
 *  confirmation applies to organization and address, for all routes; the recipient can revoke it by a link in the same
 *  mail.
 *
 *  Asked twice: a few times a day, counted over all organizations; beyond that nothing is sent.
 *  Interrupted after counting and before sending: the route shows `pending` and can ask again. */
export interface Forwarding {
  /** Status of a target. Synchronous: called for every mail. */
  statusOf(organizationId: string, email: string): Promise<ForwardTargetStatus>
  /** Route and its domain → targets to forward to, and reasons for the others. Synchronous. */
  targetsOf(route: ForwardRoute, domain: Domain): Promise<{ to: string[]; not: NotForwarded[] }>
  /** Pool of sending addresses that the operator assigned to the domain's mail; '' if none. */
  poolOf(domain: Pick<Domain, 'organizationId' | 'name'>): string
  /** Whether an alert stops the domain's sending (config quality.stop_sending). */
  isStopped(domainId: string): boolean
  /** Sends confirmation requests to pending targets → the result of each, in order. Rejects with the Refusal that live
   *  mail of the route's domain would get. */
  ask(route: ForwardRoute, emails: readonly string[], now: number): Promise<Asked[]>
}

/** Local part of the sender of confirmations. No route reads mail to it (receiving/inbound/recipient.ts), because a reply
 *  may quote the link. */
export const FORWARD_SENDER = 'no-reply-forwarding'

/** A route with action forward. */
export type ForwardRoute = InboundRoute & { action: { type: 'forward' } }

export interface Asked {
  email: string
  result: AskResult | 'suppressed' | 'received_here'
  /** For `received_here`: the link that confirms, which only an operator may see. */
  url?: string
}

export interface ForwardingDeps {
  store: Pick<Store, 'snapshot' | 'forwardTargets' | 'domains' | 'suppressions' | 'organizations'>
  settings: {
    /** Targets outside the organization's domains need a confirmation. */
    confirmTargets: boolean
    hostname: string
    requireVerifiedDomain: boolean
    sending?: Pick<SendingConfig, 'assignments'>
  }
  rules: SendingRules
  submission: Pick<Submission, 'submit'>
  links: () => ForwardLinks | Promise<ForwardLinks>
  publicUrl: () => string
}

export function createForwarding(deps: ForwardingDeps): Forwarding {
  const { store, settings } = deps

  const isAtOwnDomain = (organizationId: string, email: string): boolean => {
    const domain = store.snapshot.domainByName(parseMailbox(email)?.domain ?? '')
    return domain?.organizationId === organizationId && isOwned(domain, settings.requireVerifiedDomain)
  }
  const statusOf = async (organizationId: string, email: string): Promise<ForwardTargetStatus> => {
    const status = await store.forwardTargets.status(organizationId, addressOf(email))
    if (status !== 'pending') return status
    return !settings.confirmTargets || isAtOwnDomain(organizationId, email) ? 'confirmed' : 'pending'
  }

  return {
    statusOf,
    targetsOf: async ({ organizationId, action }, domain) => {
      const to: string[] = []
      const not: NotForwarded[] = []
      for (const email of action.config.to) {
        const status = await statusOf(organizationId, email)
        if (!isOwned(domain, settings.requireVerifiedDomain)) not.push({ email, reason: 'domain_not_verified' })
        else if (status === 'confirmed') to.push(email)
        else not.push({ email, reason: status === 'stopped' ? 'stopped' : 'pending_confirmation' })
      }
      return { to, not }
    },
    poolOf: ({ organizationId, name }) => assignedPool(settings.sending ?? NO_SENDING_CONFIG, organizationId, name),
    isStopped: (domainId) => deps.rules.stoppedBy(domainId) !== null,
    ask: async (route, emails, now) => {
      const asked: Asked[] = []
      for (const email of emails) asked.push({ email, ...(await askOne(route, email, now)) })
      return asked
    },
  }

  async function askOne(route: ForwardRoute, email: string, now: number): Promise<Omit<Asked, 'email'>> {
    const { organizationId } = route
    if ((await statusOf(organizationId, email)) === 'confirmed') return { result: 'confirmed' }
    const domain = await domainOf(route)
    if (domain === null || !isOwned(domain, settings.requireVerifiedDomain)) throw notVerified(domain)
    const folded = addressOf(email)
    for (const owner of [organizationId, INSTALLATION]) {
      const mail = { organizationId: owner, domainId: domain.id, stream: TRANSACTIONAL, mode: 'live' as const }
      const suppressed = await store.suppressions.among(mail, [folded])
      if (suppressed.size > 0) return { result: 'suppressed' }
    }
    const mailbox = parseMailbox(folded)
    if (mailbox !== null && isReceivedHere(mailbox, store.snapshot, settings)) {
      if ((await statusOf(organizationId, email)) === 'stopped') return { result: 'stopped' }
      const links = await deps.links()
      const confirm = links.confirm({ routeId: route.id, organizationId, email: folded }, now + CONFIRM_MS)
      return { result: 'received_here', url: `${deps.publicUrl()}${confirm}` }
    }
    const result = await store.forwardTargets.ask(organizationId, folded, now)
    if (result === 'asked') await send(route, domain, folded, now)
    return { result }
  }

  async function send(route: ForwardRoute, domain: Domain, email: string, now: number): Promise<void> {
    const organization = await store.organizations.get(route.organizationId)
    const asking = quotedName(organization?.name ?? null, 'An organization of this server')
    const from = parseMailbox(`Mail forwarding <${FORWARD_SENDER}@${domain.name}>`)
    const to = parseMailbox(email)
    if (from === null || to === null) throw new Error('a stored address cannot be parsed')
    const matched = route.match.value ?? `all addresses of ${domain.name}`
    await deps.submission.submit(
      {
        key: { id: AUTHOR, organizationId: INSTALLATION, domainId: domain.id, mode: 'live' },
        source: 'api',
      },
      {
        ...PLAIN,
        from: { asSent: `Mail forwarding <${from.address}>`, mailbox: from },
        to: { asSent: email, mailboxes: [to] },
        subject: `Confirm mail forwarding from ${domain.name}`,
        headers: [['Auto-Submitted', 'auto-generated']],
        tags: [AUTHOR],
        expiresInSeconds: 86_400,
        text: textOf({ asking, matched, email, publicUrl: deps.publicUrl() }),
        metadata: forwardMetadata({ routeId: route.id, organizationId: route.organizationId, email }, now + CONFIRM_MS),
      },
    )
  }

  /** For a catch-all, the oldest verified domain. */
  async function domainOf({ match, organizationId }: ForwardRoute): Promise<Domain | null> {
    if (match.value !== null) {
      const domain = store.snapshot.domainByName(match.value.slice(match.value.lastIndexOf('@') + 1))
      return domain?.organizationId === organizationId ? domain : null
    }
    const { records } = await store.domains.list(organizationId, { limit: 100, after: null })
    return records.findLast((domain) => isOwned(domain, settings.requireVerifiedDomain)) ?? null
  }
}

function notVerified(domain: Domain | null): Refusal {
  const name = domain?.name ?? 'the domain of this route'
  return new Refusal('domain_not_verified', `${name} is not verified yet. Publish its DNS records first.`, {
    details: { domain_id: domain?.id ?? null, domain: domain?.name ?? null },
  })
}

/** Target, optionally with a display name → its folded address. */
function addressOf(email: string): string {
  return suppressionKey(parseMailbox(email)?.address ?? email)
}

function textOf({
  asking,
  matched,
  email,
  publicUrl,
}: Record<'asking' | 'matched' | 'email' | 'publicUrl', string>): string {
  return `${asking} wants to forward mail for ${matched} to ${email}.

If you want this, open this link within 7 days and press the button:

${publicUrl}${CONFIRM_LINK}

If you did not expect this message, ignore it. Nothing is forwarded without your confirmation.

To stop the forwarding later, or to refuse it permanently:

${publicUrl}${STOP_LINK}
`
}

/** Key id of messages without an API key. */
const AUTHOR = 'forward-confirmation'
export const CONFIRM_MS = 7 * 86_400_000
