import { SmtpReply } from '../smtp-server/reply.ts'
import type { SmtpHandler } from '../smtp-server/session.ts'
import type { NetworkLimits } from './network-limits.ts'
import { type QuotaDeps, requireQuota } from './quota.ts'
import { createReceive, type ReceiveDeps } from './receive.ts'
import { type RecipientDeps, type RecipientTarget, targetOf } from './recipient.ts'
import { tooManyConnections, tooManyMails, tooManyUnknown } from './replies.ts'

/** The handler for port 25: resolves recipients (recipient.ts), accepts mail (receive.ts), and applies network limits
 *  (network-limits.ts) and quotas (quota.ts). There is no login, and any return path is accepted: routes decide. */
export function createInboundHandler(
  deps: RecipientDeps & ReceiveDeps & QuotaDeps & { networkLimits: NetworkLimits },
): SmtpHandler<RecipientTarget> {
  const { networkLimits } = deps
  return {
    onConnect: ({ remoteAddress }) => {
      if (!networkLimits.connect(remoteAddress)) throw tooManyConnections
    },
    onMailFrom: ({ remoteAddress }) => {
      if (!networkLimits.mail(remoteAddress)) throw tooManyMails
    },
    onRecipient: async ({ remoteAddress }, recipient, already) => {
      if (networkLimits.isGuessing(remoteAddress)) throw tooManyUnknown
      try {
        const destination = targetOf(recipient, already, deps)
        await requireQuota(destination, already, deps)
        return destination
      } catch (thrown) {
        if (thrown instanceof SmtpReply && thrown.code === 550) networkLimits.unknownRecipient(remoteAddress)
        throw thrown
      }
    },
    onMail: createReceive(deps),
  }
}
