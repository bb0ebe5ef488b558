import { type Config, planNamed } from '../config/load.ts'
import type { ForwardLinks } from '../mail/forward-link.ts'
import type { Clock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Notify } from '../os/notifier.ts'
import type { Random } from '../os/random.ts'
import { createForwarding, type Forwarding } from '../sending/submission/forwarding.ts'
import type { HeavyWork } from '../sending/submission/heavy-work.ts'
import { createRemoteAttachments, type RemoteAttachments } from '../sending/submission/remote-attachments.ts'
import { createRemoteFiles, type RemoteFilesDeps } from '../sending/submission/remote-files.ts'
import { SendingRules } from '../sending/submission/sending-rules.ts'
import type { Compose } from '../sending/submission/signing.ts'
import { Submission } from '../sending/submission/submission.ts'
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
  return new Submission({
    ...context,
    rules: sendingRules(config, store),
    messageBytes: config.limits.messageBytes,
    sending: { ...config.sending, relayedDomains: relayedDomainsOf(config) },
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
    rules: sendingRules(config, store),
    submission,
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
    submission,
    rules: sendingRules(config, store),
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

/** The rules of the configuration about who may send. */
export function sendingRules(config: Config, store: Store): SendingRules {
  return new SendingRules(store, {
    requireVerifiedDomain: config.sending.requireVerifiedDomain,
    stopSending: config.quality.stopSending,
    plans: planNamed(config),
  })
}
