import { type Config, planNamed } from '../config/load.ts'
import type { ForwardLinks } from '../mail/forward-link.ts'
import { planFor } from '../model/organization.ts'
import type { Clock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Notify } from '../os/notifier.ts'
import type { Random } from '../os/random.ts'
import { simulate } from '../sending/outbound/sandbox.ts'
import { createSubmission, type Submission } from '../sending/submission/accept.ts'
import { createForwarding, type Forwarding } from '../sending/submission/forwarding.ts'
import type { HeavyWork } from '../sending/submission/heavy-work.ts'
import { createRemoteAttachments, type RemoteAttachments } from '../sending/submission/remote-attachments.ts'
import { createRemoteFiles, type RemoteFilesDeps } from '../sending/submission/remote-files.ts'
import type { Compose } from '../sending/submission/signing.ts'
import { createUserMail, type UserMail } from '../sending/submission/user-mail.ts'
import type { Store } from '../storage/store.ts'
import { canarySender } from './canary.ts'
import type { Parsing } from './parsing/parsing.ts'
import { relayedDomainsOf } from './relays.ts'

/** What accepting mail uses. */
export interface SubmissionContext extends Pick<Parsing, 'templateEngine' | 'storedMail'> {
  config: Config
  store: Store
  clock: Clock
  random: Random
  mintId: MintId
  compose: Compose
  /** Downloads attachments that are given as URLs. */
  remoteAttachments: RemoteAttachments
  /** Paces large messages and large requests together; created by the submission if absent. */
  heavyWork?: HeavyWork
  mailLog?: MailLog
  notify: Notify
  /** Links in mail start with it. */
  publicUrl: () => string
  /** Derived from secrets of the store, which the command line reads only when needed. */
  forwardLinks: () => ForwardLinks | Promise<ForwardLinks>
}

/** Creates the Submission that HTTP, SMTP and the command line share. */
export function openSubmission(context: SubmissionContext): Submission {
  const { config, store } = context
  return createSubmission({
    ...context,
    settings: {
      requireVerifiedDomain: config.sending.requireVerifiedDomain,
      messageBytes: config.limits.messageBytes,
      sending: { ...config.sending, relayedDomains: relayedDomainsOf(config) },
    },
    planOf: planOf(config, store),
    stoppedBy: alertThatStops(config, store),
    simulate,
  })
}

/** Creates the RemoteAttachments that sends and analyses share. */
export function openRemoteAttachments(
  { limits }: Pick<Config, 'limits'>,
  deps: Omit<RemoteFilesDeps, 'maxBytes'>,
): RemoteAttachments {
  return createRemoteAttachments(createRemoteFiles({ ...deps, maxBytes: limits.messageBytes }))
}

/** Creates the Forwarding of inbound mail, which sends confirmation messages through `submission`. */
export function openForwarding(
  { config, store, publicUrl, forwardLinks }: SubmissionContext,
  submission: Submission,
): Forwarding {
  return createForwarding({
    store,
    settings: {
      confirmTargets: config.inbound.confirmForwardTargets,
      hostname: config.hostname,
      requireVerifiedDomain: config.sending.requireVerifiedDomain,
      sending: config.sending,
    },
    stoppedBy: alertThatStops(config, store),
    submit: submission.submit,
    links: forwardLinks,
    publicUrl,
  })
}

/** Creates the UserMail of invitations and password links, which goes through `submission`. `from`: its sender. */
export function openUserMail(
  { config, store, random, publicUrl }: SubmissionContext,
  submission: Pick<Submission, 'submit'>,
  from = config.users.mailFrom,
): UserMail {
  return createUserMail({
    store,
    submit: submission.submit,
    stoppedBy: alertThatStops(config, store),
    random,
    settings: {
      from,
      hostname: config.hostname,
      requireVerifiedDomain: config.sending.requireVerifiedDomain,
      singleSignOnOnly: config.oidc.only,
    },
    publicUrl,
  })
}

/** The same for canary mails, from their own address. */
export function openCanaryMail(context: SubmissionContext, submission: Pick<Submission, 'submit'>): UserMail {
  return openUserMail(context, submission, canarySender(context.config))
}

/** Organization → its plan by the config. */
export const planOf = (config: Config, store: Pick<Store, 'organizations'>) => async (organizationId: string) => {
  const organization = await store.organizations.get(organizationId)
  return planFor(organizationId, organization, planNamed(config))
}

/** The quality alert that stops a domain from sending, if the config lets alerts stop it. */
export const alertThatStops = (config: Config, store: Pick<Store, 'snapshot'>) => (domainId: string) =>
  config.quality.stopSending ? (store.snapshot.firingAlerts(domainId)[0] ?? null) : null
